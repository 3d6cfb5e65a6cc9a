"""Which arm has the highest mean in its bootstrap sample, drawing as little as possible.

The arm with the highest expected mean is drawn finely enough to lay a threshold x which it will
hardly miss. Arms far below x are gated (see `gate`): nearly all of them are *out*, known to stay
below x, and nothing else is drawn of them. The few that remain contest.

Of those, guess the arm g with the highest expected mean, given what is drawn. With V_l the mean of
arm l's sample, D_l the lead of g over l in expected mean, noise as in `draft`, and
theta_l = D_l / (noise_g + noise_l),

    M_l = exp(theta_l (V_l - V_g))  is at least 1 where l reaches g, and
    E M_l <= exp(-c_l),  c_l = D_l^2 / (2 (noise_g + noise_l)).

The threshold contests like an arm whose mean is known, x. So, exactly: with probability E M_l pick
l, draw all samples under the law weighted by M_l, and if some arm reaches g accept what was drawn
with probability 1 / (sum of all M); in every other case the guess stands. What is accepted has the
law of the samples restricted to those that prove the guess wrong: sum_l E M_l (M_l / E M_l) / sum M
= 1. Samples are refined until the probability of picking any l is small, so this almost never
happens. If all that contested end below x, the arms that are out are drawn, given that they are.
"""

import math

import numpy as np

from giro.kernel import kernel
from giro.kernels.draft import Draft, cumulant, finish, refine, restart
from giro.kernels.gate import closeness, gate
from giro.kernels.ties import an_untried_arm, beats_in_tie, highest

_WORTH = 30.0  # the chance of having to draw everything, times the entries it would take
_MARGIN = 1.05  # the threshold is laid so that it is no reason to refine
_CLOSE = 2.0  # an arm for which I would be less is drawn, not gated


@kernel
def contest(draft: Draft, ranking: np.ndarray, rng: np.random.Generator) -> int:
    """Return the arm with the highest mean in its sample; all samples have been begun."""
    arms = draft.arms
    guess = highest(arms)
    if arms[guess].mean == np.inf:
        return an_untried_arm(arms, ranking, rng)
    enough = math.log(arms.size * max(_entries(arms) / _WORTH, 20.0))
    x = _lay_threshold(draft, guess, math.sqrt(2.0 * enough) * _MARGIN, rng)
    guess, rival, c = _guess(arms, x)
    while c < enough:
        refine(draft, guess if arms[guess].noise >= arms[rival].noise else rival, rng)
        guess, rival, c = _guess(arms, x)
    best = _among_equals(arms, guess, ranking, rng)
    if rng.standard_exponential() >= c - math.log(arms.size) and _doubt(draft, guess, x, c, rng):
        guess = _highest_in(arms)
        best = _among_equals(arms, guess, ranking, rng)
    if arms[guess].noise == 0.0 and arms[guess].mean < x:
        _draw_those_out(draft, x, rng)
        best = _among_equals(arms, highest(arms), ranking, rng)
    return best


@kernel
def _entries(arms: np.ndarray) -> int:
    entries = 0
    for arm in range(arms.size):
        entries += arms[arm].m
    return entries


@kernel
def _lay_threshold(draft: Draft, leader: int, width: float, rng: np.random.Generator) -> float:
    """Return x, `width` times its noise below the leader's mean, and gate the arms far below."""
    arms = draft.arms
    x = arms[leader].mean - width * math.sqrt(arms[leader].noise)
    for arm in range(arms.size):
        if arm != leader and closeness(draft, arm, x) < 2.0 * _CLOSE:
            refine(draft, leader, rng)
            x = arms[leader].mean - width * math.sqrt(arms[leader].noise)
            break
    for arm in range(arms.size):
        if arm != leader and closeness(draft, arm, x) >= _CLOSE:
            gate(draft, arm, x, rng)
    return x


@kernel
def _guess(arms: np.ndarray, x: float) -> tuple[int, int, float]:
    """Return the arm with the highest expected mean, its closest rival, and the rival's c.

    The guess stands for the threshold where that is closest. Two arms that are drawn completely do
    not contest: their c is infinite.
    """
    guess = _highest_in(arms)
    lead, noise = arms[guess].mean - x, arms[guess].noise
    rival, least = guess, lead * lead / (2.0 * noise) if noise > 0.0 else np.inf
    for arm in range(arms.size):
        noise = arms[guess].noise + arms[arm].noise
        lead = arms[guess].mean - arms[arm].mean
        contests = arm != guess and noise > 0.0 and not arms[arm].out
        if contests and lead * lead < 2.0 * noise * least:
            rival, least = arm, lead * lead / (2.0 * noise)
    return guess, rival, least


@kernel
def _highest_in(arms: np.ndarray) -> int:
    """Return the first arm with the highest expected mean of those not out."""
    best = -1
    for arm in range(arms.size):
        if not arms[arm].out and (best < 0 or arms[arm].mean > arms[best].mean):
            best = arm
    return best


@kernel
def _doubt(draft: Draft, guess: int, x: float, least: float, rng: np.random.Generator) -> bool:
    """Tell whether the guess is wrong; if so, all samples of arms not out are drawn completely.

    Called with probability K exp(-least), `least` being the smallest c.
    """
    arms = draft.arms
    picked, theta = int(rng.random() * arms.size), _thetas(arms, guess, x)
    if theta[picked] < 0.0:
        return False
    lead = arms[guess].mean - (x if picked == guess else arms[picked].mean)
    up, down = theta[picked] / arms[picked].m, -theta[picked] / arms[guess].m
    log_mean = cumulant(draft, guess, down) - theta[picked] * lead
    if picked != guess:
        log_mean += cumulant(draft, picked, up)
    if rng.standard_exponential() < -log_mean - least:
        return False
    for arm in range(arms.size):
        if not arms[arm].out:
            finish(draft, arm, down if arm == guess else up if arm == picked else 0.0, rng)
    weight, reached = 0.0, False
    for arm in range(arms.size):
        if theta[arm] >= 0.0:
            ahead = (x if arm == guess else arms[arm].mean) - arms[guess].mean
            weight += math.exp(theta[arm] * ahead)
            reached = reached or ahead >= 0.0
    return reached and rng.random() * weight < 1.0


@kernel
def _thetas(arms: np.ndarray, guess: int, x: float) -> np.ndarray:
    """Return theta of each arm that contests, the threshold's for the guess, -1 for the others."""
    theta = np.full(arms.size, -1.0)
    for arm in range(arms.size):
        noise = arms[guess].noise + (arms[arm].noise if arm != guess else 0.0)
        if noise > 0.0 and not arms[arm].out:
            theta[arm] = (arms[guess].mean - (x if arm == guess else arms[arm].mean)) / noise
    return theta


@kernel
def _draw_those_out(draft: Draft, x: float, rng: np.random.Generator) -> None:
    """Draw the samples of the arms that are out, given that their means are below x."""
    for arm in range(draft.arms.size):
        while draft.arms[arm].out:
            restart(draft, arm)
            finish(draft, arm, 0.0, rng)
            draft.arms[arm].out = draft.arms[arm].mean >= x


@kernel
def _among_equals(
    arms: np.ndarray, guess: int, ranking: np.ndarray, rng: np.random.Generator
) -> int:
    """Return the guess, or one of the arms that are finished with exactly its mean."""
    best, tied = guess, 1
    for arm in range(arms.size):
        both_finished = arms[arm].noise + arms[guess].noise == 0.0 and not arms[arm].out
        if arm != guess and both_finished and arms[arm].mean == arms[guess].mean:
            tied += 1
            if beats_in_tie(arm, best, tied, ranking, rng):
                best = arm
    return best
