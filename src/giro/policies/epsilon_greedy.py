"""ε-greedy: pull the arm with the highest mean, and now and then any arm."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.kernel import kernel
from giro.kernels.means import means_of
from giro.kernels.ties import Ties, argmax, tie_ranking
from giro.policy import Context, Policy

_PAPER_SHARE = 0.01  # Kveton et al. (2019), Section 6.2


class _State(NamedTuple):
    pulls: np.ndarray  # [arm]
    total: np.ndarray  # [arm] sum of rewards
    epsilon: float  # fixed probability of exploring, 0 if it falls
    b: float  # numerator of the falling one, 0 if it is fixed
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, context: Context, rng: np.random.Generator) -> int:
    t = state.pulls.sum() + 1
    if rng.random() < max(state.epsilon, min(1.0, state.b / t)):
        return int(rng.integers(0, state.pulls.size))
    return argmax(means_of(state.pulls, state.total), state.ranking, rng)


@kernel
def _learn(
    state: _State, context: Context, arm: int, reward: float, rng: np.random.Generator
) -> None:
    state.pulls[arm] += 1
    state.total[arm] += reward


def b_for_share(share: float, rounds: int) -> float:
    """Return the b for which the ε_t = min(1, b/t) of all rounds sum to share × rounds.

    Between whole numbers m and m + 1 that sum is linear in b: m + b (1/(m+1) + ... + 1/rounds).

    >>> b_for_share(0.75, 2)  # ε is 1 and then 1/2
    1.0
    """
    if share * rounds >= rounds:
        return float(rounds)
    t = np.arange(1, rounds + 1)
    tails = np.append(np.cumsum(1.0 / t[::-1])[::-1], 0.0)  # [m] 1/(m+1) + ... + 1/rounds
    whole = np.arange(rounds + 1) * (1.0 + tails)  # [m] the sum for b = m
    m = int(np.searchsorted(whole, share * rounds, side="right")) - 1
    return float((share * rounds - m) / tails[m])


@dataclass(frozen=True)
class EpsilonGreedy(Policy, name="epsilon-greedy"):
    """Pulls any arm with probability ε, otherwise the arm with the highest mean.

    ε is fixed (`epsilon`), or min(1, b/t) in round t (`b`), or that with b such that the expected
    share of exploring rounds is `share`. At most one of them is given; without any, share is 1%,
    as in Kveton et al. (2019), Section 6.2. An arm never pulled has the highest mean.
    """

    source = "Auer et al. 2002, Figure 3"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)

    epsilon: float | None = None
    b: float | None = None
    share: float | None = None
    ties: Ties = field(default="random", kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters; without any, take the paper's share."""
        given = [value for value in (self.epsilon, self.b, self.share) if value is not None]
        if len(given) > 1:
            raise BadParameter("epsilon-greedy takes one of epsilon, b and share, not several")
        if not given:
            object.__setattr__(self, "share", _PAPER_SHARE)
        for name in ("epsilon", "share"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise BadParameter(f"epsilon-greedy needs {name} in [0, 1], got {name}={value}")
        if self.b is not None and not 0.0 <= self.b < np.inf:
            raise BadParameter(f"epsilon-greedy needs a finite b >= 0, got b={self.b}")

    def start(self, n_arms: int, n_features: int, rounds: int, rng: np.random.Generator) -> _State:
        """Return counts and sums of zero, and the schedule of ε."""
        b = self.b or 0.0 if self.share is None else b_for_share(self.share, rounds)
        ranking = tie_ranking(self.ties, n_arms, rng)
        pulls, total = np.zeros(n_arms, np.int64), np.zeros(n_arms)
        return _State(pulls, total, float(self.epsilon or 0.0), float(b), ranking)
