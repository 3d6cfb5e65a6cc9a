"""RandUCB: one random multiple of the widths for all arms, against direct solves."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from laws import assert_follows, p_value_of_same_counts
from live_kernels import law_of
from policies.in_context import Past, chosen, informed, some_past, with_constant

from giro.compiling import plain
from giro.errors import BadParameter
from giro.model import Model
from giro.model import value as expected_by
from giro.models import Auto, Linear, Network
from giro.offer import NO_CONTEXT, Case, Offer, Shape, offer_of
from giro.policies import rand_ucb
from giro.policies._arm_models import expected
from giro.policies.rand_ucb import RandUcb, envelope_probabilities
from giro.policy import start
from giro.seeds import stream

DRAWS = 40_000
ANY = np.empty(0)


def literal_arms(past: Past, x: np.ndarray, policy: RandUcb, seed: int) -> np.ndarray:
    """Return the arm with the highest mean + u width, by direct solves, many times over."""
    u, d = np.abs(stream(seed, 7).normal(size=DRAWS)), x.size
    sd, values = min(0.5, policy.scale / math.sqrt(d)), []
    for contexts, rewards in past.each():
        v = policy.penalty * np.eye(d) + contexts.T @ contexts
        mean = x @ np.linalg.solve(v, contexts.T @ rewards)
        values.append(mean + u * sd * math.sqrt(x @ np.linalg.solve(v, x)))
    return np.argmax(values, axis=0)


@pytest.mark.parametrize("policy", [RandUcb(), RandUcb(0.3), RandUcb(3.0, penalty=0.1)])
def test_arms_are_pulled_as_often_as_by_direct_solves(policy: RandUcb, seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=seed, tried=3)
    state, x = informed(policy, past), past.contexts[1]
    arms = chosen(state, offer_of(4, x), draws=DRAWS, seed=seed)
    literal = literal_arms(past, with_constant(x), policy, seed)
    counts = [np.bincount(several, minlength=4) for several in (arms, literal)]
    assert p_value_of_same_counts(*counts) > 1e-6
    assert_follows(arms, law_of(state, offer_of(4, x)))


def test_a_slightly_wrong_width_is_noticed(seed: int) -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=0)
    state = informed(RandUcb(0.9), past)
    offers = [offer_of(4, context) for context in past.contexts[:50]]
    offer = min(offers, key=lambda each: law_of(state, each).max())  # not one-sided
    arms = chosen(state, offer, draws=DRAWS, seed=seed)
    wrong = law_of(informed(RandUcb(1.0), past), offer)
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, wrong)


def test_without_width_it_is_greedy() -> None:
    past = some_past(rounds=300, d=6, n_arms=4, seed=0)
    offer = offer_of(4, past.contexts[1])
    assert sorted(law_of(informed(RandUcb(0.0), past), offer)) == [0, 0, 0, 1]


@pytest.mark.parametrize("name", ["scale", "penalty", "prior"])
def test_parameters_are_finite_and_not_negative(name: str) -> None:
    for value in (-1.0, math.inf, math.nan):
        wrong: dict[str, Any] = {name: value}
        with pytest.raises(BadParameter, match=f"rand-ucb needs a finite {name}"):
            RandUcb(**wrong)


# -- with a model ------------------------------------------------------------------------------


def informed_in_python(policy: RandUcb, past: Past) -> Any:
    """Return the state after this past; what only this file plays is not worth compiling."""
    n, rng = past.arms.size, stream(0, 0)
    state = start(policy, Shape(past.n_arms, past.contexts.shape[1], 0, n + 1, n + 1), rng)
    for context, arm, reward in zip(past.contexts, past.arms, past.rewards, strict=True):
        plain(rand_ucb._learn_by_model)(state, Case(context, NO_CONTEXT), arm, reward, rng)
    return state


def chosen_in_python(state: Any, offer: Offer, *, draws: int, seed: int) -> list[int]:
    rng = stream(seed, 1)
    return [plain(rand_ucb._choose_by_model)(state, offer, rng) for _ in range(draws)]


def law_in_python(state: Any, offer: Offer) -> np.ndarray:
    return np.asarray(plain(rand_ucb._propensities_by_model)(state, offer))


def exact_in_python(policy: RandUcb) -> Callable[..., np.ndarray]:
    exact = policy.functions().propensities
    assert exact is not None
    return plain(exact)


# how a state is informed and asked: auto is the default's model, whose kernels are compiled anyway
WITH_MODEL: dict[str, tuple[Any, ...]] = {
    "linear": (RandUcb(model=Linear()), informed_in_python, law_in_python, chosen_in_python),
    "auto": (RandUcb(0.5, Auto()), informed, law_of, chosen),
}


def undecided(state: Any, law: Any, past: Past) -> Offer:
    """Return, of some offers, the one in which the likeliest arm is least so."""
    offers = [offer_of(past.n_arms, context) for context in past.contexts[:50]]
    return min(offers, key=lambda offer: law(state, offer).max())


@pytest.mark.parametrize("name", WITH_MODEL)
def test_with_a_model_arms_are_pulled_as_often_as_is_said(name: str, seed: int) -> None:
    policy, inform, law_of_choices, choices = WITH_MODEL[name]
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    state = inform(policy, past)
    offer = undecided(state, law_of_choices, past)
    law = law_of_choices(state, offer)
    assert np.sort(law)[-2] > 0.05  # not one-sided
    assert_follows(choices(state, offer, draws=5_000, seed=seed), law)


@pytest.mark.parametrize(
    "model",
    ["linear", pytest.param("auto:members=[linear,extra-trees,tree]", marks=pytest.mark.slow)],
)
def test_the_mean_is_what_the_model_expects_and_1_of_untried_arms(model: str, seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    state, context = informed_in_python(RandUcb(0.5, Model.parse(model)), past), past.contexts[1]
    means = expected(state.models, offer_of(4, context), 1.0)
    x = with_constant(context)
    assert means.tolist() == [*(expected_by(state.models.model, arm, x) for arm in range(3)), 1.0]
    assert means[:3].all()


def test_widths_are_those_of_direct_solves_whatever_the_model(seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    x, context = with_constant(past.contexts[1]), past.contexts[1]
    state = informed_in_python(RandUcb(0.7, Linear(), penalty=0.3), past)
    found = rand_ucb._widths(state.ridge, state.sd, state.models.design, offer_of(4, context))
    for width, (contexts, _) in zip(found, past.each(), strict=True):
        v = 0.3 * np.eye(x.size) + contexts.T @ contexts
        wanted = min(0.5, 0.7 / math.sqrt(x.size)) * math.sqrt(x @ np.linalg.solve(v, x))
        assert width == pytest.approx(wanted, rel=1e-8)


def literal_shortfall(past: Past, prior: float) -> float:
    """Return the mean of (1 - reward)² where a ridge regression expected 1/2 and more."""
    squares = [0.25] * int(prior)
    for i, (context, arm) in enumerate(zip(past.contexts, past.arms, strict=True)):
        seen = np.flatnonzero(past.arms[:i] == arm)
        if seen.size:
            rows = np.array([with_constant(each) for each in past.contexts[seen]])
            v = np.eye(rows.shape[1]) + rows.T @ rows
            theta = np.linalg.solve(v, rows.T @ past.rewards[seen])
            if with_constant(context) @ theta >= 0.5:
                squares.append((1.0 - past.rewards[i]) ** 2)
    return float(np.mean(squares))


def test_widths_fall_with_the_shortfall_of_likely_rewards(seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed, tried=3)
    past = past._replace(rewards=np.maximum(past.rewards, past.rewards.mean()) ** 0.3)
    state = informed_in_python(RandUcb(model=Linear(), prior=4), past)
    shortfall = literal_shortfall(past, 4)
    assert shortfall < 0.2  # not cut off
    assert state.shortfall[0] > 100
    found = rand_ucb._sd(state.sd, state.shortfall)
    assert found == pytest.approx(4.0 * shortfall / math.sqrt(7), rel=1e-9)


def test_widths_are_never_wider_than_without_rewards() -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=0)
    low = informed_in_python(RandUcb(model=Linear()), past._replace(rewards=0.0 * past.rewards))
    assert low.shortfall.tolist() == [10.0, 2.5]  # nothing was likely
    for shortfall, sd in (([10.0, 2.5], 0.3), ([10.0, 9.0], 0.3), ([40.0, 2.5], 0.075)):
        assert rand_ucb._sd(0.3, np.array(shortfall)) == pytest.approx(sd)


def test_with_the_linear_model_it_is_the_policy_without_one(seed: int) -> None:
    past = some_past(rounds=200, d=6, n_arms=4, seed=seed)
    policy = RandUcb(model=Linear(), prior=1e18)
    with_model = informed_in_python(policy, past)
    without = informed(RandUcb(), past)
    propensities = exact_in_python(policy)
    for context in past.contexts[:20]:
        offer = offer_of(4, context)
        means, _ = rand_ucb._lines(without, offer)
        assert expected(with_model.models, offer, 0.0) == pytest.approx(means, abs=1e-9)
        law = law_of(without, offer)
        assert propensities(with_model, offer) == pytest.approx(law, abs=1e-7)


def test_models_that_are_trained_to_choose_have_no_exact_probabilities() -> None:
    known = {"network": False, "linear-sgd": False, "logistic": True, "auto": True, "tree": True}
    for model, exact in known.items():
        policy = RandUcb.parse(f"rand-ucb:model={model}")
        assert policy.has_propensities(binary=True, shared=False) is exact, model
        assert policy.choose_mutates_state is not exact, model
    past = some_past(rounds=20, d=6, n_arms=4, seed=0)
    policy = RandUcb(model=Network())
    state = informed_in_python(policy, past)
    propensities = exact_in_python(policy)
    assert propensities(state, offer_of(4, past.contexts[0])).size == 0


def test_a_model_that_is_trained_to_choose_is_trained_on_the_arms_on_offer(seed: int) -> None:
    past = some_past(rounds=20, d=6, n_arms=4, seed=seed, tried=3)
    state = informed_in_python(RandUcb(model=Network()), past)
    offer = Offer(np.array([1, 3]), past.contexts[0], np.empty((2, 0)))
    before = state.models.model.networks.output.copy()
    chosen_in_python(state, offer, draws=1, seed=seed)
    moved = (state.models.model.networks.output != before).any(axis=1)
    assert moved.tolist() == [False, True, False, False]  # the last has no rewards yet


def literal_shares(means: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the share of each line by summing the density of u over a fine grid."""
    u = np.linspace(0.0, 9.0, 400_001)
    density = np.exp(-(u**2) / 2)
    values = means[:, None] + widths[:, None] * u
    highest = values == values.max(axis=0)
    return (highest / highest.sum(axis=0) * density).sum(axis=1) / density.sum()


@pytest.mark.parametrize("n_arms", [1, 2, 5, 40])
def test_shares_are_those_of_a_fine_grid(n_arms: int, seed: int) -> None:
    rng = stream(seed, n_arms)
    for _ in range(5):
        means, widths = rng.normal(size=n_arms), rng.random(n_arms)
        found = envelope_probabilities(means, widths, ANY)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(found, literal_shares(means, widths), atol=2e-5)


def test_two_lines_that_cross_where_half_of_the_draws_lie() -> None:
    median = 0.6744897501960817  # of |N(0, 1)|
    found = envelope_probabilities(np.array([median, 0.0]), np.array([0.0, 1.0]), ANY)
    assert found == pytest.approx([0.5, 0.5], abs=1e-12)


def test_equal_lines_share_or_follow_the_ranking() -> None:
    means, widths = np.array([0.2, 0.5, 0.5, 0.5]), np.array([0.1, 0.1, 0.1, 0.0])
    assert envelope_probabilities(means, widths, ANY).tolist() == [0.0, 0.5, 0.5, 0.0]
    ranking = np.array([9.0, 1.0, 2.0, 8.0])
    assert envelope_probabilities(means, widths, ranking).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_three_lines_through_one_point_leave_nothing_to_the_one_between() -> None:
    means, widths = np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.5, 1.0])
    found = envelope_probabilities(means, widths, ANY)
    assert found == pytest.approx([math.erf(1 / math.sqrt(2)), 0.0, math.erfc(1 / math.sqrt(2))])


def test_a_slightly_wrong_envelope_is_noticed(seed: int) -> None:
    means, widths = np.array([0.5, 0.4, 0.1]), np.array([0.05, 0.15, 0.5])
    u = np.abs(stream(seed).normal(size=40_000))
    arms = np.argmax(means[:, None] + widths[:, None] * u, axis=0)
    assert_follows(arms, envelope_probabilities(means, widths, ANY))
    with pytest.raises(AssertionError, match="p ="):
        assert_follows(arms, envelope_probabilities(means, 1.05 * widths, ANY))
