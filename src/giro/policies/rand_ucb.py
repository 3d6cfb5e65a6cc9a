"""RandUCB: one random multiple of the confidence width for all arms (Vaswani et al., 2020).

The chosen arm has the highest mean + u width, with one u = |N(0, 1)| for all arms. As u grows from
0, the highest of these lines changes along their upper envelope, each time to an arm with a larger
width. An arm's probability is that of u falling into its stretch.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import NotNegative, Positive
from giro.compiling import inline_kernel, inlined, kernel
from giro.kernels.draws.continuous import standard_normal
from giro.kernels.highest.ties import Ties, argmax, tie_ranking
from giro.kernels.memory import now, trusted_since
from giro.kernels.regression.design import Design, case_row, design_of, model_of
from giro.kernels.regression.ridge import ridge_of, take_in, widen
from giro.model import Model, value
from giro.offer import of_arms
from giro.policies._arm_models import (
    ArmModels,
    ModelPolicy,
    expected,
    fits_to_choose_now,
    follow,
    is_known,
    prepare,
    start_models,
)
from giro.policies._widths import NOISE, ridge_scores_and_widths
from giro.policy import Case, Functions, Offer, Scores, Shape

_UNTRIED = 1.0  # prediction for an arm without rewards
_LIKELY = 0.5  # an arm with a lower prediction was pulled to explore


class _State(NamedTuple):
    ridge: Any  # a `Ridge`, or one that forgets
    sd: float  # of the noise that a width stands for
    design: Design
    ranking: np.ndarray  # order of tied arms


@kernel
def _choose(state: _State, offer: Offer, rng: np.random.Generator) -> int:
    means, widths = _lines(state, offer)
    return argmax(means + abs(standard_normal(rng)) * widths, offer.arms, state.ranking, rng)


@kernel
def _lines(state: _State, offer: Offer) -> tuple[np.ndarray, np.ndarray]:
    """Return x'θ and sd (x'V⁻¹x)^(1/2) of each arm on offer."""
    means, widths = ridge_scores_and_widths(state.design, offer, state.ridge)
    return means, state.sd * widths


@kernel
def _learn(state: _State, case: Case, arm: int, reward: float, rng: np.random.Generator) -> None:
    take_in(state.ridge, case_row(state.design, case), model_of(state.design, arm), reward)


@kernel
def _propensities(state: _State, offer: Offer) -> np.ndarray:
    means, widths = _lines(state, offer)
    return envelope_probabilities(means, widths, of_arms(state.ranking, offer.arms))


@kernel
def _write_lines(state: _State, offer: Offer, out: np.ndarray) -> None:
    means, widths = _lines(state, offer)
    _write(means, widths, out)


@inline_kernel
def _write(means: np.ndarray, widths: np.ndarray, out: np.ndarray) -> None:
    for i in range(means.size):
        out[i, 0], out[i, 1] = means[i], widths[i]


@kernel
def _chances(state: _State, arms: np.ndarray, lines: np.ndarray) -> np.ndarray:
    return _law(lines, of_arms(state.ranking, arms))


@kernel
def _law(lines: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    return envelope_probabilities(lines[:, 0].copy(), lines[:, 1].copy(), ranking)


class _ModelState(NamedTuple):
    models: ArmModels
    ridge: Any  # likewise, for the widths
    sd: float  # at most
    shortfall: np.ndarray  # [2] number of likely rewards, sum of their squared distances from 1
    prior: float  # that number before any reward
    ranking: np.ndarray


@kernel
def _choose_by_model(state: _ModelState, offer: Offer, rng: np.random.Generator) -> int:
    prepare(state.models, offer.arms, rng)
    widths = _widths(state.ridge, _sd(state.sd, state.shortfall), state.models.design, offer)
    values = expected(state.models, offer, _UNTRIED) + abs(standard_normal(rng)) * widths
    return argmax(values, offer.arms, state.ranking, rng)


@kernel
def _learn_by_model(
    state: _ModelState, case: Case, arm: int, reward: float, rng: np.random.Generator
) -> None:
    design = state.models.design
    x, model = case_row(design, case), model_of(design, arm)
    is_likely = False
    if is_known(state.models.pulls, model):
        is_likely = value(state.models.model, model, x) >= _LIKELY
    widen(state.ridge, x, model)
    before = now(state.models.memory)
    follow(state.models, x, model, reward, rng)
    left = trusted_since(state.models.memory, before)
    if left < 1.0:
        state.shortfall[0] = state.prior + left * (state.shortfall[0] - state.prior)
        least = state.prior * NOISE**2
        state.shortfall[1] = least + left * (state.shortfall[1] - least)
    if is_likely:
        state.shortfall[0] += 1.0
        state.shortfall[1] += (1.0 - reward) ** 2


@kernel
def _sd(highest: float, shortfall: np.ndarray) -> float:
    """Return the highest standard deviation, or less if rewards are nearer to 1 than to 1/2."""
    return highest * min(1.0, float(shortfall[1] / shortfall[0]) / NOISE**2)


@kernel
def _widths(ridge: Any, sd: float, design: Design, offer: Offer) -> np.ndarray:
    _, widths = ridge_scores_and_widths(design, offer, ridge)
    return sd * widths


@kernel
def _propensities_by_model(state: _ModelState, offer: Offer) -> np.ndarray:
    if fits_to_choose_now(state.models):
        return np.empty(0)
    lines = np.empty((offer.arms.size, 2))
    _put_lines(state, offer, lines)
    return _law(lines, of_arms(state.ranking, offer.arms))


@kernel
def _write_lines_by_model(state: _ModelState, offer: Offer, out: np.ndarray) -> None:
    if not fits_to_choose_now(state.models):
        _put_lines(state, offer, out)


@inlined
def _put_lines(state: _ModelState, offer: Offer, out: np.ndarray) -> None:
    means = expected(state.models, offer, _UNTRIED)
    widths = _widths(state.ridge, _sd(state.sd, state.shortfall), state.models.design, offer)
    _write(means, widths, out)


@kernel
def _chances_by_model(state: _ModelState, arms: np.ndarray, lines: np.ndarray) -> np.ndarray:
    if fits_to_choose_now(state.models):
        return np.empty(0)
    return _law(lines, of_arms(state.ranking, arms))


@kernel
def envelope_probabilities(
    means: np.ndarray, widths: np.ndarray, ranking: np.ndarray
) -> np.ndarray:
    """Return the probability that line i is the highest, [i], with ties broken by `ranking`.

    Each step goes from one line of the envelope to the next, in O(arms). Widths are >= 0.
    """
    chances, line, low = np.zeros(means.size), 0, 0.0
    for i in range(1, means.size):
        if means[i] > means[line] or (means[i] == means[line] and widths[i] > widths[line]):
            line = i
    while line >= 0:
        following, high = -1, math.inf
        for i in range(means.size):
            if widths[i] > widths[line]:
                crossing = (means[line] - means[i]) / (widths[i] - widths[line])
                if crossing < high or (
                    crossing == high and following >= 0 and widths[i] > widths[following]
                ):
                    following, high = i, crossing
        stretch = math.erfc(low / math.sqrt(2.0)) - math.erfc(high / math.sqrt(2.0))
        _share(chances, stretch, means, widths, line, ranking)
        line, low = following, high
    return chances


@kernel
def _share(
    chances: np.ndarray,
    stretch: float,
    means: np.ndarray,
    widths: np.ndarray,
    line: int,
    ranking: np.ndarray,
) -> None:
    """Share a stretch among the lines equal to this one, or give it to the highest in rank."""
    best, tied = line, 0
    for i in range(means.size):
        if means[i] == means[line] and widths[i] == widths[line]:
            tied += 1
            if ranking.size > 0 and ranking[i] > ranking[best]:
                best = i
    if ranking.size > 0:
        chances[best] += stretch
        return
    for i in range(means.size):
        if means[i] == means[line] and widths[i] == widths[line]:
            chances[i] += stretch / tied


@dataclass(frozen=True)
class RandUcb(ModelPolicy, name="rand-ucb"):
    """Pulls the arm with the highest mean + u width, with one random u for all arms.

    Each arm has a ridge regression. Its width is s (x'V⁻¹x)^(1/2), the standard deviation of x'θ if
    rewards had noise of standard deviation s, and u is the absolute value of a standard normal
    draw. s = min(1/2, `scale` / √d), where d is the number of columns of x: widths that do not
    shrink with √d explore too much in many dimensions. An arm that has seen only zeros keeps its
    width. The arms' probabilities are exact: they follow from the upper envelope of the lines
    mean + u width.

    With a `model` (auto, another of `giro.models`, or from Python a scikit-learn estimator) the
    mean is the model's prediction, or 1 for an arm never pulled, and the regression gives only the
    widths. These are smaller if little can be gained: s is multiplied by min(1, 4q), where q is the
    mean of (1 - reward)² over the rewards for which the model predicted at least 1/2, and over
    `prior` made-up ones of 1/2. A large `prior` leaves s unchanged. For other policies it is known
    that regret can be smaller if the best arms pay nearly 1 (Foster and Krishnamurthy 2021).
    Differs from the paper: u is not truncated, the width is that of ridge regression without the
    constant of the theory, and parameters are shared between arms only if arms have features.

    For worlds that change, only the last `window` rewards of all arms count, or a reward counts
    half as much after every `half_life` further ones, in V, in θ and in q (docs/howto/drift.md says
    how for each model). So widths grow again, and the penalty always counts in full.
    """

    source = "Vaswani et al. 2020, Section 3"
    choose = staticmethod(_choose)
    learn = staticmethod(_learn)
    propensities = staticmethod(_propensities)
    uses_arm_features = True
    hashes_features = False  # its widths need columns

    scale: NotNegative = 1.0
    model: Model | None = None
    prior: Positive = field(default=10.0, kw_only=True)
    penalty: Positive = field(default=1.0, kw_only=True)
    ties: Ties = field(default="random", kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    half_life: float | None = field(default=None, kw_only=True)

    def functions(self) -> Functions:
        """Return the functions for regressions or for models."""
        if self.model is None:
            scores = Scores(2, _write_lines, _chances)
            return super().functions()._replace(scores=scores)
        scores = Scores(2, _write_lines_by_model, _chances_by_model)
        functions = Functions(_choose_by_model, _learn_by_model, _propensities_by_model, scores)
        return functions if self.compiles else functions.in_python

    def start(self, shape: Shape, rng: np.random.Generator) -> Any:
        """Return regressions and models before any reward."""
        ridge = ridge_of(shape, self.penalty, window=self.window, half_life=self.half_life)
        sd = min(NOISE, self.scale / math.sqrt(shape.width))
        ranking = tie_ranking(self.ties, shape.n_arms, rng)
        if self.model is None:
            return _State(ridge, sd, design_of(shape), ranking)
        models = start_models(self.model, self.memory(shape), shape, rng)
        shortfall = self.prior * np.array([1.0, NOISE**2])
        return _ModelState(models, ridge, sd, shortfall, float(self.prior), ranking)
