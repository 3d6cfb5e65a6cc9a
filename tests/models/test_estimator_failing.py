"""Estimators that raise, refuse or predict no number are left out until they work."""

import functools
from typing import Any

import numpy as np
import pytest
from bandit.clock import bandit_of
from models.samples import fitted, sample_of
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from giro import Bandit, Policy
from giro.errors import ModelWarning
from giro.model import Sample, partial_fit, refit, start, value
from giro.models import Auto, Linear, estimator
from giro.models.estimator import Estimator
from giro.policies import ContextualGiro, EpsilonGreedy, GiroEnsemble, PoissonBootstrap, RandUcb
from giro.seeds import stream

CONTEXTS = np.column_stack([stream(3).random((12, 2)), np.ones(12)])
REWARDS = np.array([0.0, 1.0] * 6)


@functools.cache
def whole_sample() -> Sample:
    return sample_of(CONTEXTS, REWARDS, np.tile([1, 0, 0], (12, 1)))


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimator, "_warned", set())


NOT_TODAY = ValueError("not today")


class Moody(Ridge):
    """Fails unless the number of rows is in `good`."""

    def __init__(self, good: tuple[int, ...] = (), how: BaseException = NOT_TODAY) -> None:
        super().__init__()
        self.good, self.how = good, how

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> Any:
        if X.shape[0] not in self.good:
            raise self.how
        return super().fit(X, y, sample_weight)


class Further(Moody):
    """Fits, and then fails to go on."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> Any:
        self.rows_ = X.shape[0]
        return Ridge.fit(self, X, y, sample_weight)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> Any:
        self.coef_[:] = np.nan
        raise self.how


class Lost(Ridge):
    """Predicts no number where the first is above 1/2."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 0] > 0.5, np.nan, super().predict(X))


def first(n: int) -> Sample:
    whole = whole_sample()
    return Sample(whole.rows, whole.positions[:n], whole.counts[:n])


@pytest.mark.parametrize(
    "how", [ValueError("not\n  today."), np.linalg.LinAlgError("not today"), ZeroDivisionError()]
)
def test_a_fit_that_fails_leaves_the_mean_until_one_works(how: Exception) -> None:
    rng = stream(0)
    state = start(Estimator(Moody((12,), how)), 1, 3, 12, rng)
    with pytest.warns(ModelWarning) as said:
        refit(state, 0, first(11), rng)
    assert value(state, 0, CONTEXTS[0]) == pytest.approx(5 / 11)
    refit(state, 0, first(10), rng)
    assert value(state, 0, CONTEXTS[0]) == 0.5
    refit(state, 0, first(12), rng)
    twin = Ridge().fit(CONTEXTS, REWARDS)
    assert value(state, 0, CONTEXTS[0]) == pytest.approx(twin.predict(CONTEXTS[:1])[0])
    assert len(said) == 1
    reason = "ZeroDivisionError" if isinstance(how, ZeroDivisionError) else "not today"
    assert f") cannot be fitted: {reason}; until it can" in str(said[0].message)
    assert "giro.models.Estimator(model, fewest=30)" in str(said[0].message)


def test_a_last_fit_is_not_gone_on_with_after_a_failure() -> None:
    rng = stream(0)
    state = start(Estimator(Moody((12,))), 1, 3, 12, rng)
    refit(state, 0, first(12), rng)
    with pytest.warns(ModelWarning, match="cannot be fitted"):
        refit(state, 0, first(11), rng)
    assert state.fitted == [None]


def test_rows_that_cannot_be_taken_in_are_fitted_with_all_others() -> None:
    rng = stream(0)
    state = start(Estimator(Further()), 1, 3, 12, rng)
    partial_fit(state, 0, first(9), rng)
    with pytest.warns(ModelWarning, match="cannot be fitted further: not today") as said:
        for n in (10, 11, 12):
            partial_fit(state, 0, first(n), rng)
            assert state.fitted[0].rows_ == n
            twin = Ridge().fit(CONTEXTS[:n], REWARDS[:n])
            assert value(state, 0, CONTEXTS[0]) == pytest.approx(twin.predict(CONTEXTS[:1])[0])
    assert len(said) == 1


def test_where_no_number_is_predicted_the_mean_is_expected_and_nothing_changes() -> None:
    state = fitted(Estimator(Lost()), whole_sample())
    low, high = np.array([0.2, 0.2, 1.0]), np.array([0.7, 0.2, 1.0])
    before = value(state, 0, low)
    assert before != 0.5
    with pytest.warns(ModelWarning, match="cannot be used to predict: it predicts a reward of nan"):
        assert value(state, 0, high) == 0.5
    assert value(state, 0, high) == 0.5
    assert value(state, 0, low) == before


def test_each_kind_of_failure_is_said_once_for_a_class() -> None:
    with pytest.warns(ModelWarning) as said:
        for model in (Moody(), Moody(), KNeighborsClassifier(13), Lost()):
            value(fitted(Estimator(model), whole_sample()), 0, np.ones(3))
    assert [str(each.message).split("(")[0] for each in said] == [
        "Moody",
        "KNeighborsClassifier",
        "Lost",
    ]


@pytest.mark.parametrize("how", [KeyboardInterrupt, SystemExit])
def test_a_person_can_still_stop_it(how: type[BaseException]) -> None:
    with pytest.raises(how):
        fitted(Estimator(Moody(how=how())), whole_sample())


def test_partial_fit_waits_for_fewest_draws_too() -> None:
    rng = stream(0)
    state = start(Estimator(SGDRegressor(), fewest=7), 1, 3, 12, rng)
    for n in range(1, 7):
        partial_fit(state, 0, first(n), rng)
        assert value(state, 0, CONTEXTS[0]) == REWARDS[:n].mean()
    partial_fit(state, 0, first(7), rng)
    assert state.works.tolist() == [True]


# -- in policies ---------------------------------------------------------------------------------


def played(bandit: Bandit, rounds: int, seed: int) -> list[bool]:
    """Return when the better arm was taken; arm b is better where the first number is positive."""
    rng, right = stream(seed, 7), []
    for t in range(rounds):
        x = rng.uniform(-1.0, 1.0, 2)
        decision = bandit.decide(x, id=f"round {t}")
        right.append((decision.arm == "b") == (x[0] > 0))
        bandit.reward(decision.id, float(rng.random() < (0.9 if right[-1] else 0.1)))
    return right


class Weekdays(Ridge):
    """Fails in two of three fits, and in some contexts."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> Any:
        if y.size % 3:
            raise RuntimeError("it is the weekend")
        return super().fit(X, y, sample_weight)

    def predict(self, X: np.ndarray) -> np.ndarray:
        if X[0, 1] > 0.5:
            raise MemoryError
        return super().predict(X)


@pytest.mark.parametrize(
    "policy",
    [
        ContextualGiro(a=0.2, model=Weekdays()),
        GiroEnsemble(model=Weekdays(), replicas=5),
        PoissonBootstrap(model=Weekdays(), replicas=5),
        EpsilonGreedy(epsilon=0.1, model=Weekdays()),
        RandUcb(model=Weekdays()),
        RandUcb(model=Auto(members=(Linear(), Weekdays()))),
    ],
    ids=lambda policy: policy.text[:30],
)
def test_policies_outlive_their_models(policy: Policy, seed: int) -> None:
    bandits = [bandit_of(policy, "ab", seed=seed) for _ in range(2)]
    with pytest.warns(ModelWarning):
        first, second = (played(bandit, 25, seed) for bandit in bandits)
        more = bandits[0].decide_many([[0.1, 0.1], [0.9, 0.9]])
    assert first == second
    assert bandits[0].n_rewards == 25
    for decision in more:
        assert decision.propensity is None or 0.0 < decision.propensity <= 1.0


@pytest.mark.parametrize(
    "model",
    [
        MLPClassifier((8,), max_iter=50, warm_start=True, learning_rate_init=0.03),
        GaussianNB(),
        KNeighborsClassifier(5),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::giro.errors.ModelWarning", "ignore:divide", "ignore:invalid")
def test_models_that_cannot_fit_little_live_and_learn(model: Any) -> None:
    policy = GiroEnsemble(a=0.1, model=model, replicas=5, growth=1.5)
    bandit = bandit_of(policy, "ab", seed=5)  # with some, it takes long to try arm b again
    assert np.mean(played(bandit, 150, 1)[-50:]) > 0.7  # without contexts it would be 1/2


def test_a_member_that_fails_expects_the_mean_and_is_weighed_by_it() -> None:
    state, rng = start(Auto(members=(Linear(), Moody())), 1, 3, 12, stream(0)), stream(0)
    with pytest.warns(ModelWarning):
        for n in range(1, 13):
            partial_fit(state, 0, first(n), rng)
    assert value(state.members[1], 0, CONTEXTS[0]) == pytest.approx(0.5, abs=0.1)
    assert np.isfinite(state.loss).all() and state.share.sum() == pytest.approx(1.0)


def test_a_model_that_never_works_leaves_the_means() -> None:
    bandit, rng = bandit_of(GiroEnsemble(model=Moody(), replicas=20), "ab"), stream(2)
    with pytest.warns(ModelWarning):
        for _ in range(100):
            decision = bandit.decide([1.0])
            bandit.reward(decision.id, float(rng.random() < (0.8 if decision.arm == "a" else 0.3)))
    arms = [decision.arm for decision in bandit.decide_many([[1.0]] * 100)]
    assert arms.count("a") > 60
