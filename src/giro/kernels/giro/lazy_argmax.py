"""Which arm has the highest mean in its bootstrap sample, drawing as little as possible.

The arm with the highest expected mean is drawn finely enough to lay a threshold x which it will
hardly miss. Arms far below x take a tail test (see below): nearly all of them are *out*,
known to stay below x, and nothing else is drawn of them. The few that remain compete.

Of those, guess the arm g with the highest expected mean, given what is drawn. With V_l the mean of
arm l's sample, D_l the lead of g over l in expected mean, noise and width as in `partial_sample`,
and theta_l = D_l / (noise_g + noise_l + max(width_g, width_l) D_l / 3),

    M_l = exp(theta_l (V_l - V_g))  is at least 1 where l reaches g, and
    E M_l <= exp(-c_l),  c_l = theta_l D_l / 2  (Bernstein's inequality).

The threshold competes like an arm whose mean is known, x. So, exactly: with probability E M_l
choose l, draw all samples from the distribution weighted by M_l, and if some arm reaches g accept
what was drawn with probability 1 / (sum of all M); in every other case the guess stands. What is
accepted has the distribution of the samples restricted to those that prove the guess wrong:
sum_l E M_l (M_l / E M_l) / sum M = 1. Samples are refined until the probability of choosing any l
is small, so this almost never happens. If all that competed end below x, the arms that are out are
drawn, given that they are.

A tail test says whether an arm's mean reaches x, at the price of one exponential
variable. With S the sum of the arm's sample of m entries, and any u > 0,

    P(S in dz) = e^(-I) e^(-u (z - m x)) P_u(S in dz),   I = u m x - log E e^(u S),

where P_u is the distribution weighted by e^(u S). So the arm reaches x exactly if one exponential
variable is at least I and, for a draw S from P_u, S >= m x and a second one is at least
u (S - m x); S then has the distribution of S given that x is reached. I, the rate, is linear in x,
so u and what E e^(u S) needs of the history are kept until the arm is pulled again or x has moved
far.
"""

import math
from typing import Any

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.continuous import standard_exponential
from giro.kernels.giro.partial_sample import (
    PartialSamples,
    cumulant,
    finish,
    refine,
    restart,
    weight_of,
)
from giro.kernels.highest.ties import an_untried_arm, beats_in_tie, highest

_WORTH = 30.0  # the chance of having to draw everything, times the entries it would take
_MARGIN = 1.05  # the threshold is laid so that it is no reason to refine
_CLOSE, _QUICK = 1.5, 40.0  # see _tested_from
_STEEPEST = 3.0  # a larger u would make draws from the weighted distribution slow
_DRIFT = 1.5  # a u this many times too large or too small is found again
_SAFER = 2.5  # by how much more the leader's I must exceed that to leave it undrawn


@kernel
def lazy_argmax(
    samples: PartialSamples, arms: np.ndarray, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    """Return which of these arms has the highest mean in its sample.

    The samples have been begun.
    """
    records = samples.rewards.arms
    guess = highest(records, arms)
    if records[guess].centre == np.inf:
        return an_untried_arm(records, arms, ranking, rng)
    entries = 0
    for arm in arms:
        entries += records[arm].m
    enough = math.log(arms.size * max(entries / _WORTH, 20.0))
    x = _lay_threshold(samples, arms, guess, _MARGIN * enough, rng)
    guess, rival, c = _guess(records, arms, x)
    while c < enough:
        refine(samples, guess if records[guess].noise >= records[rival].noise else rival, rng)
        guess, rival, c = _guess(records, arms, x)
    best = _among_equals(records, arms, guess, ranking, rng)
    doubted = standard_exponential(rng) >= c - math.log(arms.size)
    if doubted and _doubt(samples, arms, guess, x, c, rng):
        guess = _highest_in(records, arms)
        best = _among_equals(records, arms, guess, ranking, rng)
    if records[guess].noise == 0.0 and records[guess].centre < x:
        for arm in arms:  # draw those out, given that their means are below x
            while records[arm].out:
                restart(samples, arm)
                finish(samples, arm, 0.0, rng)
                records[arm].out = records[arm].centre >= x
        best = _among_equals(records, arms, highest(records, arms), ranking, rng)
    return best


@kernel
def _lay_threshold(
    samples: PartialSamples, arms: np.ndarray, leader: int, enough: float, rng: np.random.Generator
) -> float:
    """Return the threshold, after testing the arms far below it.

    The leader is refined if need be.
    """
    records = samples.rewards.arms
    x = _likely_reached(records[leader], enough)
    for arm in arms:
        if arm != leader and rate_of(samples, arm, x) < _SAFER + _tested_from(records[arm]):
            refine(samples, leader, rng)
            x = _likely_reached(records[leader], enough)
            break
    for arm in arms:
        if arm != leader and rate_of(samples, arm, x) >= _tested_from(records[arm]):
            tail_test(samples, arm, x, rng)
    return x


@kernel
def _tested_from(record: Any) -> float:
    """Return the I from which testing the arm costs less than drawing it roughly.

    An arm that passes its test is drawn reward by reward.
    """
    return max(_CLOSE, math.log(record.pulls / _QUICK))


@kernel
def _likely_reached(leader: Any, c: float) -> float:
    """Return the x that competes with this c."""
    third = leader.width * c / 3.0
    return float(leader.centre - third - math.sqrt(third * third + 2.0 * c * leader.noise))


@kernel
def _guess(records: np.ndarray, arms: np.ndarray, x: float) -> tuple[int, int, float]:
    """Return the arm with the highest expected mean, its closest rival, and the rival's c.

    The guess stands for the threshold where that is closest. Two arms that are drawn completely do
    not compete: their c is infinite.
    """
    guess = _highest_in(records, arms)
    rival, least = guess, np.inf
    for arm in arms:
        lead, theta = _lead_and_theta(records, guess, arm, x)
        if theta >= 0.0 and 0.5 * lead * theta < least:
            rival, least = int(arm), 0.5 * lead * theta
    return guess, rival, least


@kernel
def _lead_and_theta(records: np.ndarray, guess: int, arm: int, x: float) -> tuple[float, float]:
    """Return D and theta of an arm, or of the threshold if the arm is the guess.

    Theta is -1 if the arm is out, or if both samples are drawn completely.
    """
    best, other = records[guess], records[arm]
    if other.out or best.noise + other.noise == 0.0:
        return 0.0, -1.0
    if arm == guess:
        lead = max(best.centre - x, 0.0)  # at 0, c is 0 and the guess is drawn to its end
        return lead, lead / (best.noise + best.width * lead / 3.0)
    lead = best.centre - other.centre
    return lead, lead / (best.noise + other.noise + max(best.width, other.width) * lead / 3.0)


@kernel
def _highest_in(records: np.ndarray, arms: np.ndarray) -> int:
    """Return the first arm with the highest expected mean of those not out."""
    best = -1
    for arm in arms:
        if not records[arm].out and (best < 0 or records[arm].centre > records[best].centre):
            best = int(arm)
    return best


@kernel
def _doubt(
    samples: PartialSamples,
    arms: np.ndarray,
    guess: int,
    x: float,
    least: float,
    rng: np.random.Generator,
) -> bool:
    """Return whether the guess is wrong.

    If so, all samples of arms not out are drawn completely. Called with probability K exp(-least),
    `least` being the smallest c.
    """
    records = samples.rewards.arms
    leads, thetas = np.empty(arms.size), np.empty(arms.size)
    for i in range(arms.size):
        leads[i], thetas[i] = _lead_and_theta(records, guess, arms[i], x)
    position = int(rng.random() * arms.size)
    picked, theta = arms[position], thetas[position]
    if theta < 0.0:
        return False
    up, down = theta / records[picked].m, -theta / records[guess].m
    log_mean = cumulant(samples, guess, down) - theta * leads[position]
    if picked != guess:
        log_mean += cumulant(samples, picked, up)
    if standard_exponential(rng) < -log_mean - least:
        return False
    for arm in arms:
        if not records[arm].out:
            finish(samples, arm, down if arm == guess else up if arm == picked else 0.0, rng)
    weight, reached = 0.0, False
    for i in range(arms.size):
        if thetas[i] >= 0.0:
            ahead = (x if arms[i] == guess else records[arms[i]].centre) - records[guess].centre
            weight += math.exp(thetas[i] * ahead)
            reached = reached or ahead >= 0.0
    return reached and rng.random() * weight < 1.0


@kernel
def _among_equals(
    records: np.ndarray, arms: np.ndarray, guess: int, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    """Return the guess, or one of the arms that are finished with exactly its mean."""
    best, tied = guess, 1
    for arm in arms:
        both_finished = records[arm].noise + records[guess].noise == 0.0 and not records[arm].out
        if arm != guess and both_finished and records[arm].centre == records[guess].centre:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = int(arm)
    return best


@kernel
def rate_of(samples: PartialSamples, arm: int, x: float) -> float:
    """Return approximately I at its best u, as for a normal S, or 0 if x is at most the mean."""
    record = samples.rewards.arms[arm]
    lead = x - record.centre
    return 0.5 * lead * lead / record.noise if lead > 0.0 else 0.0


@kernel
def tail_test(samples: PartialSamples, arm: int, x: float, rng: np.random.Generator) -> None:
    """Draw whether the undrawn arm reaches x: then finish its sample, otherwise mark it as out."""
    record = samples.rewards.arms[arm]
    u = min((x - record.centre) / (record.m * record.noise), _STEEPEST)
    if u > _DRIFT * record.tilt or u * _DRIFT < record.tilt:  # the u of the last test will not do
        record.tilt, record.test_k = u, -1
        if record.fractional:
            record.weight = weight_of(samples, arm, 0, record.pulls, u, 0.0)
        else:
            record.weight = record.pulls - record.total + record.total * math.exp(u)
    if record.test_k != record.k:
        record.test_k = record.k
        pseudo = record.k * (1.0 + math.exp(record.tilt))
        record.test_cost = record.m * math.log((record.weight + pseudo) / record.m)
    if standard_exponential(rng) < record.tilt * record.m * x - record.test_cost:
        record.out = True
        return
    finish(samples, arm, record.tilt, rng)
    excess = record.m * (record.centre - x)
    record.out = excess < 0.0 or standard_exponential(rng) < record.tilt * excess
