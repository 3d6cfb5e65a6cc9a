"""SDA: sub-sampling duels of the most pulled arm with all others (Baudry et al., 2020)."""

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import numpy as np

from giro.compiling import kernel
from giro.kernels.draws.discrete import hypergeometric
from giro.kernels.draws.uniform import integer_below
from giro.kernels.giro.history import History, append, empty_history, rewards_of
from giro.kernels.highest.ties import Ties, beats_in_tie, tie_ranking
from giro.policies.besa import subsampled_sum
from giro.policy import Case, Offer, Policy, Shape

Block = Literal["random", "last", "sample", "worst"]

_RANDOM, _LAST, _SAMPLE, _WORST = range(4)
_ROUNDING = 1e-9  # of a mean: the same rewards added in another order still tie


class _State(NamedTuple):
    history: History  # sums of the first 1, 2, ... rewards; with `sample` the rewards
    total: np.ndarray  # [arm] sum of rewards
    binary: np.ndarray  # [arm] whether each reward so far was 0 or 1
    waiting: np.ndarray  # [arm] whether it won a duel, and has had no reward since
    last: np.ndarray  # [2] the leader of the last duels, and how often there were duels
    scanned: (
        np.ndarray
    )  # [arm, 3] leader, pulls of the arm, blocks of the leader that lost: `worst`
    block: int  # an index of Block
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    """Return one of the winners that wait, drawn at random, after new duels if there are none."""
    arm = _one_waiting(state, offer.arms, rng)
    if arm < 0:
        _duel(state, offer.arms, rng)
        arm = _one_waiting(state, offer.arms, rng)
    return arm


@kernel
def _one_waiting(state: _State, arms: np.ndarray, rng: np.random.Generator) -> int:
    chosen, waiting = -1, 0
    for arm in arms:
        if state.waiting[arm]:
            waiting += 1
            if waiting == 1 or rng.random() * waiting < 1.0:
                chosen = int(arm)
    return chosen


@kernel
def _duel(state: _State, arms: np.ndarray, rng: np.random.Generator) -> None:
    """Set the winners of the duels among these arms: challengers, or else the leader."""
    leader, pulls, leads = _leader(state, arms, rng), state.history.length, True
    state.last[0] = leader
    state.last[1] += 1
    forced = math.sqrt(math.log(state.last[1])) if state.block in (_LAST, _WORST) else 0.0
    for arm in arms:
        if arm != leader:
            forces = pulls[arm] < forced and pulls[arm] < pulls[leader]
            wins = pulls[arm] == 0 or forces or _wins(state, arm, leader, rng)
            state.waiting[arm] = wins
            leads = leads and not wins
    state.waiting[leader] = leads or pulls[leader] == 0


@kernel
def _leader(state: _State, arms: np.ndarray, rng: np.random.Generator) -> int:
    """Return the most pulled arm, of equals the one with the highest mean, or the last leader."""
    best, tied, pulls = int(arms[0]), 1, state.history.length
    for arm in arms[1:]:
        more = pulls[arm] - pulls[best]
        lead = state.total[arm] - state.total[best]
        if more > 0 or (more == 0 and lead > _ROUNDING * pulls[arm]):
            best, tied = int(arm), 1
        elif more == 0 and abs(lead) <= _ROUNDING * pulls[arm]:
            tied += 1
            if arm == state.last[0] or (
                best != state.last[0] and beats_in_tie(arm, best, tied, state.ranking, rng)
            ):
                best = int(arm)
    return best


@kernel
def _wins(state: _State, arm: int, leader: int, rng: np.random.Generator) -> bool:
    """Return whether the arm's n rewards have at least the mean of n of the leader's m."""
    history = state.history
    n, m = history.length[arm], history.length[leader]
    enough = state.total[arm] + _ROUNDING * n
    if n == m:
        return bool(enough >= state.total[leader])
    if state.block == _WORST:
        return _reaches_a_block(state, arm, leader, enough)
    if state.block == _SAMPLE:
        if state.binary[leader]:
            ones = int(state.total[leader])
            return bool(enough >= hypergeometric(ones, m - ones, n, rng))
        return bool(enough >= subsampled_sum(rewards_of(history, leader), n, rng))
    first = m - n if state.block == _LAST else integer_below(m - n + 1, rng)
    return bool(enough >= _block_sum(state, leader, first, n))


@kernel
def _block_sum(state: _State, leader: int, first: int, n: int) -> float:
    """Return the sum of n rewards of the leader in a row, the first at the place `first`."""
    history = state.history
    begin = history.begin[leader] + first
    before = history.pool[begin - 1] if first > 0 else 0.0
    return float(history.pool[begin + n - 1] - before)


@kernel
def _reaches_a_block(state: _State, arm: int, leader: int, enough: float) -> bool:
    """Return whether any block of the leader has a sum of at most `enough`.

    Blocks that were above it are not looked at again while leader and arm are the same, and the arm
    has no further reward.
    """
    n, m, scanned = state.history.length[arm], state.history.length[leader], state.scanned[arm]
    if scanned[0] != leader or scanned[1] != n:
        scanned[0], scanned[1], scanned[2] = leader, n, 0
    while scanned[2] <= m - n:
        if enough >= _block_sum(state, leader, scanned[2], n):
            return True
        scanned[2] += 1
    return False


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    state.total[arm] += reward
    if 0.0 < reward < 1.0:
        state.binary[arm] = False
    append(state.history, arm, reward if state.block == _SAMPLE else state.total[arm])
    state.waiting[arm] = False


@dataclass(frozen=True)
class Sda(Policy, name="sda"):
    """Pulls the arms that win a duel with the leader, on equally many rewards, or else the leader.

    The leader is the most pulled arm. Each other arm duels with it, and wins if its mean is at
    least that of as many of the leader's rewards. All winners are pulled, one after the other in
    random order, and then arms duel again. If the leader wins all duels, it is pulled. `block` says
    which rewards of the leader count: `random` those of a random block (RB-SDA), `last` the latest
    (LB-SDA), `sample` some drawn without replacement (WR-SDA), `worst` the block with the lowest
    mean (SSMC). With `last` and `worst` an arm also wins if it has fewer than √(log r) rewards
    before the r-th duels, as in the authors' own simulations. Nothing has to be known of the
    distribution of rewards.

    Winners wait in the state. If some of the winners are on offer, one of them is drawn, otherwise
    the arms on offer duel anew. A winner waits until it has a reward. So while rewards are under
    way, decisions are drawn from the winners of the last duels.

    Differs from the papers: a random block is any of the m - n + 1 blocks of n among m rewards,
    where the paper's text leaves out one of them.
    """

    source = "Baudry, Kaufmann and Maillard 2020, Algorithm 1; Baudry et al. 2021; Chan 2020"
    uses_contexts = False
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    choose_mutates_state = True  # winners wait

    block: Block = "random"
    ties: Ties = field(default="random", kw_only=True)

    def start(self, shape: Shape, rng: np.random.Generator) -> _State:
        """Return empty histories, before the first duels."""
        return _State(
            empty_history(shape.n_arms, shape.capacity),
            np.zeros(shape.n_arms),
            np.ones(shape.n_arms, np.bool_),
            np.zeros(shape.n_arms, np.bool_),
            np.array([-1, 0]),
            np.full((shape.n_arms, 3), -1),
            get_args(Block).index(self.block),
            tie_ranking(self.ties, shape.n_arms, rng),
        )
