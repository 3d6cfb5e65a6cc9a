"""Any scikit-learn estimator as a reward model."""

import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from contract.steps import in_steps
from models.samples import fitted, sample_of, written_out
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import LinearSVC

from giro import Policy, Problem, Trace, simulate
from giro.errors import BadParameter, GiroError
from giro.model import Model, Sample, partial_fit, refit, start, value
from giro.models.estimator import Estimator, abilities_of, as_model
from giro.models.linear import Linear
from giro.policies.contextual_giro import ContextualGiro
from giro.seeds import stream
from giro.simulation.kept import Kept
from giro.simulation.play import play_run
from giro.simulation.simulate import Experiment, run
from giro.simulation.trace import load_traces

LINEAR = Problem.parse("linear:n_arms=3,dimension=4")
ASKED = np.array([0.3, -0.4, 1.0])


def bootstrapped(seed: int, *, n: int = 40, fractions: bool = False) -> Sample:
    rng = stream(seed, 3)
    contexts = np.column_stack([rng.standard_normal((n, 2)), np.ones(n)])
    rewards = (rng.random(n) < 0.3 + 0.4 * (contexts[:, 0] > 0)).astype(float)
    if fractions:
        rewards = 0.1 + 0.8 * rewards
    return sample_of(contexts, rewards, rng.poisson(1, (n, 3)).astype(np.int32))


def pulled(model: Any, *, rounds: int = 100, seed: int = 0) -> list[int]:
    policy = in_steps(ContextualGiro(1.0, model))
    record = play_run(policy, LINEAR, np.array([rounds]), seed=seed, run=0, keep_arms=True)
    return record.arms.tolist()


def expected(estimator: Any, sample: Sample, *, seed: int = 0) -> float:
    return value(fitted(Estimator(estimator), sample, seed=seed), 0, ASKED)


# -- the same as without us --------------------------------------------------------------------


def test_ridge_pulls_the_arms_of_the_compiled_linear_model(seed: int) -> None:
    ridge = Ridge(alpha=2.0, fit_intercept=False, random_state=0)
    assert pulled(ridge, seed=seed) == pulled(Linear(penalty=2.0), seed=seed)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        LogisticRegression(C=3.0, tol=1e-9),
        make_pipeline(StandardScaler(), LogisticRegression(tol=1e-9)),
        make_pipeline(Normalizer(), Ridge()),
        make_pipeline(PCA(2), Ridge()),
        GaussianNB(),
        KNeighborsClassifier(),
        KNeighborsRegressor(),
    ],
    ids=lambda estimator: str(estimator)[:40],
)
def test_a_fit_is_that_of_the_sample_written_out(estimator: Any, seed: int) -> None:
    sample = bootstrapped(seed)
    contexts, rewards = written_out(sample)
    twin = clone(estimator).fit(contexts, rewards.astype(int))
    asked = ASKED[None]
    answer = (
        twin.predict_proba(asked)[0, 1] if abilities_of(twin).classifies else twin.predict(asked)[0]
    )
    assert expected(estimator, sample) == pytest.approx(answer, abs=1e-5)


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (LogisticRegression(), ("sample_weight",)),
        (
            Pipeline([("a", StandardScaler()), ("b", Ridge())]),
            ("a__sample_weight", "b__sample_weight"),
        ),
        (
            Pipeline([("a", Normalizer()), ("b", "passthrough"), ("c", Ridge())]),
            ("c__sample_weight",),
        ),
        (Pipeline([("a", PCA(2)), ("b", Ridge())]), None),  # would see every row once
        (Pipeline([("a", StandardScaler()), ("b", KNeighborsClassifier())]), None),
        (KNeighborsClassifier(), None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_counts_are_weights_only_where_all_that_is_fitted_takes_them(
    estimator: Any, names: tuple[str, ...] | None
) -> None:
    abilities = abilities_of(estimator)
    assert abilities.weighs == (names is not None)
    assert abilities.weights == (names or ())


def test_pipelines_repeat_rows_where_metadata_is_routed(seed: int) -> None:
    pipeline, sample = make_pipeline(StandardScaler(), Ridge()), bootstrapped(seed)
    weighted = expected(pipeline, sample)
    with sklearn.config_context(enable_metadata_routing=True):
        assert not abilities_of(pipeline).weighs
        assert expected(pipeline, sample) == pytest.approx(weighted, abs=1e-9)


# -- samples with little in them ---------------------------------------------------------------


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_sample_of_one_class_has_its_constant_probability(reward: float) -> None:
    sample = sample_of(np.eye(3), np.full(3, reward), np.array([[1, 0, 0]] * 3, np.int32))
    assert expected(LogisticRegression(), sample) == reward


def test_an_empty_sample_says_nothing() -> None:
    sample = sample_of(np.eye(3), np.ones(3), np.zeros((3, 3), np.int32))
    assert expected(LogisticRegression(), sample) == expected(Ridge(), sample) == 0.5


def test_fewer_draws_than_wanted_have_their_mean() -> None:
    sample = sample_of(
        np.eye(3), np.array([0.2, 1, 0]), np.array([[2, 0, 0], [1, 0, 0], [0, 0, 1]])
    )
    for estimator in (KNeighborsClassifier(), KNeighborsRegressor(), LogisticRegression()):
        state = fitted(Estimator(estimator, fewest=5), sample)
        mean = value(state, 0, ASKED)
        rounded = isinstance(estimator, KNeighborsClassifier)  # each draw of 0.2 is 0 or 1
        assert mean in (0.25, 0.5, 0.75) if rounded else mean == pytest.approx(0.35)


# -- fractional rewards ------------------------------------------------------------------------


def test_classifiers_see_a_fractional_reward_as_both_classes(seed: int) -> None:
    sample = bootstrapped(seed, fractions=True)
    x, y, counts = sample.rows.contexts, sample.rows.rewards, sample.counts
    ones = counts[:, 0] * y + counts[:, 1]
    zeros = counts[:, 0] * (1 - y) + counts[:, 2]
    model = LogisticRegression(tol=1e-9)
    twin = model.fit(np.vstack([x, x]), [1] * 40 + [0] * 40, sample_weight=[*ones, *zeros])
    assert expected(model, sample) == pytest.approx(twin.predict_proba(ASKED[None])[0, 1], abs=1e-5)


def test_where_rows_are_repeated_a_fractional_reward_is_rounded_at_random(seed: int) -> None:
    sample = sample_of(np.eye(3), np.array([0.3, 0.3, 0.3]), np.array([[9, 0, 0]] * 3, np.int32))
    model = KNeighborsClassifier(n_neighbors=27)  # all of them: the share of ones
    shares = [expected(model, sample, seed=1000 * seed + i) for i in range(100)]
    assert abs(np.mean(shares) - 0.3) < 5 * np.sqrt(0.21 / 2700)
    assert np.std(shares) > 0.04


# -- fits that go on from the last one ---------------------------------------------------------


def fit_twice(estimator: Any, seed: int) -> tuple[Any, Any]:
    """Return the slot's fitted object after a first and a second fit to other samples."""
    rng = stream(seed)
    state = start(Estimator(estimator), 1, 3, 40, rng)
    fits = []
    for i in range(2):
        refit(state, 0, bootstrapped(seed + i), rng)
        fits.append(state.fitted[0])
    return fits[0], fits[1]


@pytest.mark.parametrize(
    "estimator",
    [
        SGDClassifier(loss="log_loss"),
        LogisticRegression(),
        MLPRegressor(hidden_layer_sizes=(3,), max_iter=2),
        make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    ],
    ids=lambda estimator: str(estimator)[:40],
)
def test_coefficients_are_where_the_next_fit_begins(estimator: Any, seed: int) -> None:
    first, second = fit_twice(estimator, seed)
    assert first is not second, "the last one may predict while the next one is fitted"
    assert any(name.endswith("warm_start") and on for name, on in second.get_params().items())


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(3), HistGradientBoostingClassifier(max_iter=2), Ridge()]
)
def test_trees_are_never_added_to_those_of_another_sample(estimator: Any, seed: int) -> None:
    first, second = fit_twice(estimator, seed)
    assert first is not second
    assert not second.get_params().get("warm_start")


def row_by_row(model: Estimator, sample: Sample, seed: int) -> Iterator[Any]:
    """Yield the state after each row."""
    rng = stream(seed)
    state = start(model, 1, 3, sample.positions.size, rng)
    for n in range(1, sample.positions.size + 1):
        partial_fit(state, 0, Sample(sample.rows, sample.positions[:n], sample.counts[:n]), rng)
        yield state


def test_an_estimator_with_partial_fit_takes_in_each_row_once(seed: int) -> None:
    assert Estimator(GaussianNB()).fitting == "history"
    assert Estimator(Ridge()).fitting == "refit"
    sample = bootstrapped(seed)
    *_, state = row_by_row(Estimator(GaussianNB()), sample, seed)
    contexts, rewards = written_out(sample)
    whole = GaussianNB().fit(contexts, rewards.astype(int))
    assert state.fitted[0].class_count_.tolist() == whole.class_count_.tolist()
    assert state.fitted[0].theta_ == pytest.approx(whole.theta_)


def test_rows_left_out_are_taken_in_later(seed: int) -> None:
    sample, rng = bootstrapped(seed), stream(seed)
    state = start(Estimator(GaussianNB()), 1, 3, 40, rng)
    for n in (30, 33, 34, 40):
        partial_fit(state, 0, Sample(sample.rows, sample.positions[:n], sample.counts[:n]), rng)
    assert state.fitted[0].class_count_.sum() == sample.counts.sum()


def test_all_rows_are_fitted_whenever_they_have_doubled(seed: int) -> None:
    calls: list[int] = []

    class Counting(SGDClassifier):
        def fit(self, X: np.ndarray, *args: Any, **others: Any) -> Any:
            calls.append(X.shape[0])
            return super().fit(X, *args, **others)

    sample = sample_of(np.eye(40), np.arange(40) % 2.0, np.tile([1, 0, 0], (40, 1)))
    for state in row_by_row(Estimator(Counting(loss="log_loss"), fewest=5), sample, seed):
        assert np.isfinite(value(state, 0, np.ones(40)))
    assert calls == [5, 10, 20, 40]


@pytest.mark.parametrize(
    "estimator",
    [
        SGDClassifier(loss="log_loss"),
        MLPRegressor(max_iter=2),
        MLPClassifier((3,), max_iter=2, warm_start=True),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_takes_in_rows_can_be_asked_after_each(estimator: Any, seed: int) -> None:
    for state in row_by_row(Estimator(estimator), bootstrapped(seed), seed):
        assert np.isfinite(value(state, 0, ASKED))
    assert state.works[0]


# -- runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestRegressor(3),
        HistGradientBoostingClassifier(max_iter=2),
        MLPRegressor(hidden_layer_sizes=(3,), max_iter=2),
        SGDClassifier(loss="log_loss"),
        Estimator(CalibratedClassifierCV(LinearSVC(), cv=2), fewest=30),
    ],
    ids=lambda estimator: str(estimator)[:40],
)
def test_runs_repeat_themselves_for_the_same_seed(estimator: Any, seed: int) -> None:
    first, second = (pulled(estimator, rounds=25, seed=seed) for _ in range(2))
    assert first == second


def test_random_states_are_drawn_anew_for_each_fit_unless_given(seed: int) -> None:
    first, second = fit_twice(RandomForestRegressor(1), seed)
    assert first.random_state != second.random_state
    first, second = fit_twice(RandomForestRegressor(1, random_state=np.int64(7)), seed)
    assert first.random_state == second.random_state == 7
    shared = np.random.RandomState(3)
    before = shared.get_state(legacy=False)["state"]["key"].tolist()
    fit_twice(RandomForestRegressor(1, random_state=shared), seed)
    assert shared.get_state(legacy=False)["state"]["key"].tolist() == before


@pytest.mark.slow  # quick: any policy in plain Python, in simulation/engines/test_processes.py
def test_numbers_do_not_depend_on_the_processes(seed: int, tmp_path: Path) -> None:
    policy = ContextualGiro(1.0, make_pipeline(StandardScaler(), LogisticRegression()))
    traces = [simulate(policy, LINEAR, rounds=12, runs=3, seed=seed, jobs=jobs) for jobs in (1, 2)]
    assert traces[0].regret.tolist() == traces[1].regret.tolist()
    traces[0].save(tmp_path / "trace.parquet")
    assert Trace.load(tmp_path / "trace.parquet").setting.policy == policy.text


def test_results_of_an_estimator_are_kept_but_always_made_anew(tmp_path: Path) -> None:
    experiment = Experiment([LINEAR], [ContextualGiro(1.0, Ridge())], rounds=6, runs=1)
    played: list[int] = []
    for _ in range(2):
        list(run(experiment, Kept(tmp_path), on_runs=lambda setting, count: played.append(count)))
    assert played == [0, 1, 0, 1]
    assert len(load_traces(tmp_path / "runs.parquet")) == 2


# -- the object that was given -----------------------------------------------------------------


def test_the_given_estimator_is_left_alone(seed: int) -> None:
    mine = SGDClassifier(loss="log_loss")
    before = pickle.dumps(mine)
    policy = ContextualGiro(1.0, mine)
    inside = pickle.dumps(policy)
    play_run(policy, LINEAR, np.array([20]), seed=seed, run=0)
    assert pickle.dumps(mine) == before
    assert pickle.dumps(policy) == inside
    mine.set_params(loss="hinge")
    assert isinstance(policy.model, Estimator)
    assert policy.model.estimator.loss == "log_loss"


def test_equal_estimators_are_equal_models() -> None:
    policy = ContextualGiro(1.0, LogisticRegression(C=2.0))
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert policy == ContextualGiro(1.0, LogisticRegression(C=2.0))
    assert hash(policy) == hash(ContextualGiro(1.0, LogisticRegression(C=2.0)))
    assert policy != ContextualGiro(1.0, LogisticRegression(C=3.0))
    assert policy != ContextualGiro(1.0, Estimator(LogisticRegression(C=2.0), fewest=2))
    assert policy != ContextualGiro(1.0, Linear())


def test_its_text_is_for_people() -> None:
    policy = ContextualGiro(1.0, Estimator(LogisticRegression(C=2), fewest=9))
    assert policy.text == "contextual-giro:a=1,model=[estimator:LogisticRegression(C=2),fewest=9]"
    with pytest.raises(GiroError):
        Policy.parse(policy.text)
    with pytest.raises(BadParameter, match="estimator needs estimator, use it from Python"):
        Model.parse("estimator")


def test_models_and_texts_are_taken_as_they_are() -> None:
    assert as_model("linear:penalty=2") == Linear(penalty=2.0)
    assert as_model(model := Linear()) is model


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (3, "estimator with fit and predict, got 3"),
        (StandardScaler(), "fit and predict, got StandardScaler"),
        (Ridge, "got its class: use Ridge()"),
        (LinearSVC(), "without predict_proba.*CalibratedClassifierCV"),
        (make_pipeline(StandardScaler(), LinearSVC()), "without predict_proba"),
        (SGDClassifier(), "without predict_proba"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_asked_is_refused(given: Any, complaint: str) -> None:
    with pytest.raises(BadParameter, match=complaint):
        ContextualGiro(1.0, given)


@pytest.mark.parametrize("fewest", [0, 1.5])
def test_fewest_is_a_whole_number(fewest: int) -> None:
    with pytest.raises(BadParameter, match="estimator needs a whole number fewest >= 1"):
        Estimator(Ridge(), fewest=fewest)


def test_singular_designs_give_finite_values_and_no_warning(seed: int) -> None:
    rng = stream(seed)
    contexts = np.column_stack([200 * rng.standard_normal(20), np.ones(20), np.ones(20)])
    sample = sample_of(contexts, np.full(20, 0.5), rng.poisson(1, (20, 3)).astype(np.int32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator in (
            LinearRegression(),
            make_pipeline(StandardScaler(), LogisticRegression()),
        ):
            assert np.isfinite(expected(estimator, sample))


def test_scikit_learn_is_imported_only_when_needed() -> None:
    code = "import sys, giro; giro.Policy.parse('contextual-giro'); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
