"""Giro ensemble: the law of its replicas with each kind of weights, and its defaults."""

import numpy as np
import pytest
from laws import assert_follows, assert_follows_cdf, assert_same_law
from live_kernels import live_of, taught
from scipy import stats

from giro import BadParameter, Policy
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.model import value
from giro.offer import NO_CONTEXT, Case, Shape
from giro.policies._replicas import KINDS, draw_weights
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policy import start
from giro.seeds import stream

REWARDS = np.array([1.0, 0.3, 0.0, 0.8])
REPLICAS = 20_000


def test_replicas_differ_as_bootstrap_means_do(seed: int) -> None:
    """Without contexts a replica's value is Σ of Poisson weights; its law is known exactly."""
    policy = GiroEnsemble(a=1.0, replicas=REPLICAS)
    rng = stream(seed)
    state = start(policy, Shape(1, 0, 0, 1, 1), rng)
    taught(state, Case(NO_CONTEXT, NO_CONTEXT), 0, 1.0, rng)
    ours = np.array([value(state.model, i, np.ones(1)) for i in range(REPLICAS)])
    ones = stream(seed, 9).poisson(2.0, REPLICAS)
    zeros = stream(seed, 10).poisson(1.0, REPLICAS)
    assert_same_law(ours.round(9), (ones / (ones + zeros + 1.0)).round(9))


# -- weights: MBE ----------------------------------------------------------------------------------


def literal_mbe(kind: str, pseudo: float, seed: int) -> np.ndarray:
    """Wan et al. (2023): (Σ ω y + λ Σ ω') / (Σ ω + λ Σ ω' + λ Σ ω''), many times over.

    With the ridge penalty of 1 in the denominator.
    """
    rng, size = stream(seed, 4), (3, REPLICAS, REWARDS.size)
    draws = {
        "exponential": lambda: rng.exponential(size=size),
        "gaussian": lambda: np.maximum(rng.normal(1.0, 1.0, size), 0.0),
        "double": lambda: 2.0 * rng.integers(0, 2, size),
    }
    real, ones, zeros = draws[kind]()
    above = (real * REWARDS).sum(axis=1) + pseudo * ones.sum(axis=1)
    below = real.sum(axis=1) + pseudo * ones.sum(axis=1) + pseudo * zeros.sum(axis=1)
    return np.asarray(above / (below + 1.0))


def values_of(policy: GiroEnsemble, seed: int) -> np.ndarray:
    rng = stream(seed)
    state = start(policy, Shape(1, 0, 0, 9, 9), rng)
    for reward in REWARDS:
        taught(state, Case(NO_CONTEXT, NO_CONTEXT), 0, float(reward), rng)
    return np.array([value(state.model, i, np.ones(1)) for i in range(REPLICAS)])


@pytest.mark.parametrize("kind", KINDS[1:])
def test_with_other_weights_it_is_mbe(kind: str, seed: int) -> None:
    policy = GiroEnsemble(a=0.5, replicas=REPLICAS, weights=kind)  # type: ignore[arg-type]  # a word
    ours = values_of(policy, seed).round(9)
    assert_same_law(ours, literal_mbe(kind, 0.5, seed).round(9))
    another = literal_mbe(kind, 0.25, seed).round(9)
    assert stats.ks_2samp(ours, another).pvalue < 1e-6, (
        "another number of pseudo rewards is noticed"
    )


def test_each_kind_of_weights_has_its_law(seed: int) -> None:
    weights = np.empty((REPLICAS, 3))
    draw_weights(weights, KINDS.index("exponential"), 0.25, stream(seed))
    assert_follows_cdf(weights[:, REAL], stats.expon.cdf)
    assert_follows_cdf(weights[:, ONE] / 0.25, stats.expon.cdf)
    draw_weights(weights, KINDS.index("double"), 0.25, stream(seed))
    assert_follows(weights[:, ZERO] / 0.5, [0.5, 0.5])
    draw_weights(weights, KINDS.index("gaussian"), 0.25, stream(seed))
    positive = weights[:, REAL] > 0.0
    assert_follows(positive, [stats.norm.cdf(-1.0), stats.norm.cdf(1.0)])
    assert_follows_cdf(weights[positive, REAL], stats.truncnorm(-1.0, np.inf, loc=1.0).cdf)
    draw_weights(weights, KINDS.index("exponential"), 0.0, stream(seed))
    assert weights[:, ONE:].sum() == 0.0


@pytest.mark.parametrize("model", ["logistic", "tree", "online-logistic", "extra-trees"])
def test_models_of_weighted_rows_take_any_weights(model: str, seed: int) -> None:
    """A replica whose weights are all halved predicts the same, but for the penalty."""
    policy = Policy.parse(f"giro-ensemble:model={model},replicas=4,weights=exponential")
    live, rng = live_of(policy, Shape(2, 1, 0, 60, 60), seed=seed), stream(seed, 5)
    for _ in range(60):
        x, arm = rng.normal(size=1), int(rng.integers(2))
        live.learn(Case(x, NO_CONTEXT), arm, float((x[0] > 0.0) == (arm == 1)))
    predicted = [value(live.state.model, 4 + i, np.array([2.0, 1.0])) for i in range(4)]
    assert min(predicted) > 0.6
    assert len(set(predicted)) > 1


@pytest.mark.parametrize("model", ["network", "online-network", "linear-sgd", "auto"])
def test_models_that_repeat_rows_refuse_weights(model: str) -> None:
    with pytest.raises(BadParameter, match=r"weights=gaussian needs a model of weighted rows"):
        Policy.parse(f"giro-ensemble:model={model},weights=gaussian")


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "contextual", "wanted"),
    [
        ("giro-ensemble", True, (0.03, "exponential")),
        ("giro-ensemble:model=network", True, (0.03, "poisson")),
        ("giro-ensemble:model=boosting", True, (0.3, "poisson")),
        ("giro-ensemble", False, (0.3, "poisson")),
        ("giro-ensemble:model=hashed", True, (0.3, "poisson")),
        ("giro-ensemble:a=0.3", True, (0.3, "poisson")),
        ("giro-ensemble:a=0,weights=double", True, (0.0, "double")),
    ],
)
def test_defaults_depend_on_what_is_known(
    text: str, contextual: bool, wanted: tuple[float, str]
) -> None:
    played = Policy.parse(text).resolved(contextual=contextual)
    assert isinstance(played, GiroEnsemble)
    assert (played.a, played.weights) == wanted


def test_the_text_puts_a_first_if_it_is_given() -> None:
    assert GiroEnsemble().text.startswith("giro-ensemble:model=linear")
    text = "giro-ensemble:a=1/3,model=linear,replicas=5"
    assert Policy.parse(text).text == text


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(BadParameter, match="giro-ensemble needs a finite a >= 0"):
        GiroEnsemble(a=-1.0)
    with pytest.raises(BadParameter, match="giro-ensemble needs weights poisson, exponential"):
        GiroEnsemble(weights="uniform")  # type: ignore[arg-type]  # a word from Python
    with pytest.raises(BadParameter):
        Policy.parse("giro-ensemble:spread=2")
