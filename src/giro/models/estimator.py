"""Estimator: any scikit-learn estimator as a model, checked before it is used."""

import copy
import functools
import inspect
import math
import numbers
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giro.checks import Count
from giro.errors import BadParameter, ModelWarning, needs_extra
from giro.kernels.draws.discrete import binomials
from giro.kernels.draws.uniform import integers_below
from giro.kernels.giro.pseudo_rewards import ONE, REAL
from giro.model import Model, Sample, faded_counts, recent, recent_rows, whole_counts
from giro.offer import Context

_UNKNOWN = 0.5  # the middle of the rewards


class Abilities(NamedTuple):
    """How an estimator is fitted and how it predicts."""

    classifies: bool
    weighs: bool  # takes weights; otherwise rows are repeated
    weights: tuple[str, ...]  # parameters of `fit` for the weights
    weighs_parts: bool  # `partial_fit` takes weights
    seeds: tuple[str, ...]  # parameters that are set to an integer before each fit
    warm: str | None  # the parameter that makes a fit start from the last one

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Silence warnings that a fit has not converged, if the next one continues it."""
        if self.warm is None:
            yield
            return
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415  # quick start

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield


def abilities_of(estimator: Any) -> Abilities:
    """Return the abilities of an estimator with `fit`, and `predict` or `predict_proba`."""
    _check_methods(estimator)
    seeds = tuple(  # those that would not be repeatable, or would share a generator
        name
        for name, value in _parameters(estimator).items()
        if name == "random_state" or name.endswith("__random_state")
        if not isinstance(value, numbers.Integral)
    )
    weights = _weight_parameters(estimator)
    return Abilities(
        hasattr(estimator, "predict_proba"),
        weights is not None,
        weights or (),
        hasattr(estimator, "partial_fit") and _takes_weights(estimator.partial_fit),
        seeds,
        _warm_parameter(estimator),
    )


def _check_methods(estimator: Any) -> None:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise BadParameter(f"expected an estimator, got its class: use {name}() for {name}")
    can_answer = hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")
    if not hasattr(estimator, "fit") or not can_answer:
        raise BadParameter(
            "expected a model, its text, or a scikit-learn estimator with fit and predict, "
            f"got {estimator!r}"
        )
    with needs_extra("an estimator", "scikit-learn", extra="models"):
        from sklearn.base import is_classifier  # noqa: PLC0415  # quick start: only when needed

    classifies = hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)
    if classifies and not hasattr(estimator, "predict_proba"):
        raise BadParameter(
            f"{estimator!r} is a classifier without predict_proba, which gives the probability of "
            "a reward: wrap it as sklearn.calibration.CalibratedClassifierCV(estimator)"
        )


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters, with those of steps and inner estimators as `step__name`."""
    return dict(estimator.get_params(deep=True)) if hasattr(estimator, "get_params") else {}


def _weight_parameters(estimator: Any) -> tuple[str, ...] | None:
    """Return the parameters of `fit` that take weights, or None if some step takes none.

    A step of a pipeline without weights would see each row once, however often it was drawn.
    """
    import sklearn  # noqa: PLC0415  # quick start: only when needed
    from sklearn.utils import get_tags  # noqa: PLC0415  # likewise

    steps = getattr(estimator, "steps", None)
    if steps is None:
        return ("sample_weight",) if _takes_weights(estimator.fit) else None
    if sklearn.get_config()["enable_metadata_routing"]:  # `fit` takes no parameters of steps
        return None
    names: list[str] = []
    for name, step in steps:
        fitted = step is not None and step != "passthrough" and get_tags(step).requires_fit
        inner = _weight_parameters(step) if fitted else ()
        if inner is None:
            return None
        names += [f"{name}__{parameter}" for parameter in inner]
    return tuple(names)


def _takes_weights(fit: Any) -> bool:
    return "sample_weight" in inspect.signature(fit).parameters


def _warm_parameter(estimator: Any) -> str | None:
    """Return `warm_start`, or `step__warm_start` of a pipeline's last step, if there is one."""
    steps = getattr(estimator, "steps", None)
    if steps is None:
        return "warm_start" if "warm_start" in _parameters(estimator) else None
    inner = _warm_parameter(steps[-1][1])
    return None if inner is None else f"{steps[-1][0]}__{inner}"


class TrainingRows(NamedTuple):
    """Rows to fit to, with weights above 0."""

    contexts: np.ndarray  # [i, feature]
    targets: np.ndarray  # [i] rewards, or classes 0 and 1
    weights: np.ndarray  # [i] how often the row is in the sample
    draws: int  # in the sample altogether

    @property
    def is_one_class(self) -> bool:
        """Whether all targets are the same."""
        return bool((self.targets == self.targets[0]).all())

    @property
    def mean(self) -> float:
        """The mean reward in the sample."""
        return float(np.average(self.targets, weights=self.weights))


def _training_rows(
    sample: Sample, abilities: Abilities, rng: np.random.Generator, *, weighs: bool
) -> TrainingRows:
    """Return the rows of a sample that were drawn.

    A classifier sees reward r as class 1 with weight r and as class 0 with weight 1 - r. If it
    takes no weights, rows are repeated, which is impossible 0.3 times. Each draw is then class 1
    with probability r, otherwise class 0, so that weights are whole numbers.
    """
    s = sample.positions.size
    counts = faded_counts(sample) if weighs else whole_counts(sample, rng)
    if abilities.classifies:
        targets, weights = _classes(sample, counts, None if weighs else rng)
    else:  # observed rewards, then pseudo rewards 1, then 0
        observed = sample.rows.rewards[sample.positions]
        targets = np.concatenate([observed, np.ones(s), np.zeros(s)])
        weights = counts.T.astype(np.float64).ravel()
    drawn = np.flatnonzero(weights > 0)
    contexts = sample.rows.contexts[sample.positions[drawn % s]]
    return TrainingRows(contexts, targets[drawn], weights[drawn], math.ceil(counts.sum()))


def one_each(rows: TrainingRows) -> tuple[np.ndarray, np.ndarray]:
    """Return contexts and targets, with each row repeated by its weight."""
    times = rows.weights.astype(np.int64)
    return np.repeat(rows.contexts, times, axis=0), np.repeat(rows.targets, times)


def _classes(
    sample: Sample, counts: np.ndarray, rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and weights, class 1 first, then class 0."""
    s = sample.positions.size
    observed, real = sample.rows.rewards[sample.positions], counts[:, REAL]
    if rng is not None and not np.isin(observed, (0.0, 1.0)).all():
        real_ones = binomials(real, observed, rng)
    else:
        real_ones = real * observed
    ones = real_ones + counts[:, ONE]
    weights = np.concatenate([ones, counts.sum(axis=1) - ones]).astype(np.float64)
    return np.repeat(np.array([1, 0]), s), weights


def as_model(model: Any) -> Model:
    """Return the model that a text, a model or a scikit-learn estimator stands for."""
    if isinstance(model, Model | str):
        return Model.parse(model)
    return Estimator(model)


class _State(NamedTuple):
    estimator: Any  # never fitted, only copied
    abilities: Abilities
    fewest: int
    fitted: list[Any]  # [slot] or None
    works: np.ndarray  # [slot] whether the fitted estimator predicts
    mean: np.ndarray  # [slot] reward in the last sample, the prediction if it does not
    due: np.ndarray  # [slot] number of rows at which the next full fit is
    taken: np.ndarray  # [slot] rows of the last full fit, and those that `partial_fit` has added
    width: np.ndarray  # [slot] columns of the last fit, the only ones it predicts from


def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Fit a copy, or the slot's last fit again if that is a good start."""
    rows = _training_rows(recent(sample), state.abilities, rng, weighs=state.abilities.weighs)
    width = sample.rows.contexts.shape[1]
    is_as_wide, state.width[slot] = state.width[slot] == width, width
    n = state.taken[slot] = sample.positions.size
    state.due[slot] = n + max(recent_rows(sample), 1)
    state.mean[slot] = rows.mean if rows.draws > 0 else _UNKNOWN
    state.works[slot] = False
    if rows.draws < state.fewest or (state.abilities.classifies and rows.is_one_class):
        return
    estimator, state.fitted[slot] = state.fitted[slot], None  # a failed fit is unusable
    with _left_out_on_failure(state, "fitted"), state.abilities.quiet():
        if estimator is not None and is_as_wide and goes_on(estimator, state.abilities):
            estimator = copy.deepcopy(estimator)  # the last one may predict meanwhile
            estimator.set_params(**{str(state.abilities.warm): True})
        else:
            estimator = fresh(state.estimator)
        _seed(estimator, state.abilities, rng)
        contexts, targets = rows.contexts, rows.targets
        if not state.abilities.weighs:
            contexts, targets = one_each(rows)
        estimator.fit(contexts, targets, **dict.fromkeys(state.abilities.weights, rows.weights))
        state.fitted[slot], state.works[slot] = estimator, True


def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Pass new rows to `partial_fit`, or fit all rows if that fails or if as many have come."""
    n, taken = sample.positions.size, state.taken[slot]
    is_as_wide = state.width[slot] == sample.rows.contexts.shape[1]
    if state.works[slot] and is_as_wide and n < state.due[slot]:
        positions, counts = sample.positions[taken:], sample.counts[taken:]
        new = sample._replace(positions=positions, counts=counts)
        with _left_out_on_failure(state, "fitted further"):
            estimator = copy.deepcopy(state.fitted[slot])  # likewise
            _take_in(state, estimator, new, rng)
            state.fitted[slot], state.taken[slot] = estimator, n
            return
        state.fitted[slot] = None
    _refit(state, slot, sample, rng)


def _take_in(state: _State, estimator: Any, new: Sample, rng: np.random.Generator) -> None:
    abilities = state.abilities
    rows = _training_rows(new, abilities, rng, weighs=abilities.weighs_parts)
    if rows.draws == 0:
        return
    if (
        abilities.warm is not None
    ):  # for `fit` alone: some estimators would need all classes in each part
        estimator.set_params(**{abilities.warm: False})
    contexts, targets = rows.contexts, rows.targets
    extra: dict[str, Any] = {"classes": np.array([0, 1])} if abilities.classifies else {}
    if abilities.weighs_parts:
        extra["sample_weight"] = rows.weights
    else:
        contexts, targets = one_each(rows)
    estimator.partial_fit(contexts, targets, **extra)


def _value(state: _State, slot: int, context: Context) -> float:
    if not state.works[slot]:
        return float(state.mean[slot])
    row, estimator = context[: state.width[slot]].reshape(1, -1), state.fitted[slot]
    answer = float(state.mean[slot])
    with _left_out_on_failure(state, "used to predict"):
        if state.abilities.classifies:
            prediction = float(estimator.predict_proba(row)[0, 1])
        else:
            prediction = float(np.ravel(estimator.predict(row))[0])
        if not math.isfinite(prediction):
            raise ValueError(f"it predicts a reward of {prediction}")
        answer = prediction
    return answer


def fresh(estimator: Any) -> Any:
    """Return an unfitted copy."""
    from sklearn.base import clone  # noqa: PLC0415  # quick start: only when needed

    return clone(estimator, safe=False)


def goes_on(fitted: Any, abilities: Abilities) -> bool:
    """Return whether the next fit can start from the last one.

    With `warm_start` a linear model or a network starts from its coefficients. A forest or boosting
    would keep trees that were grown on another sample, and add new ones. So only estimators with
    `coef_` or `coefs_` and without `estimators_` continue.
    """
    last = _last_step(fitted)
    has_coefficients = hasattr(last, "coef_") or hasattr(last, "coefs_")
    return abilities.warm is not None and has_coefficients and not hasattr(last, "estimators_")


def _last_step(estimator: Any) -> Any:
    steps = getattr(estimator, "steps", None)
    return estimator if steps is None else _last_step(steps[-1][1])


def _seed(estimator: Any, abilities: Abilities, rng: np.random.Generator) -> None:
    """Set the estimator's seeds to new integers, which its random numbers follow from."""
    if abilities.seeds:
        drawn = integers_below(2**32, len(abilities.seeds), rng).tolist()
        estimator.set_params(**dict(zip(abilities.seeds, drawn, strict=True)))


@contextmanager
def _left_out_on_failure(state: _State, doing: str) -> Iterator[None]:
    """Go on after any error of the estimator, and warn once of each kind of failure."""
    try:
        with _single_thread().limit(limits=1):
            yield
    except Exception as error:
        failure = (type(state.estimator), doing)
        if failure not in _warned:
            _warned.add(failure)
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            warnings.warn(
                f"{state.estimator} cannot be {doing}: {reason}; until it can, an arm's mean "
                "reward replaces its predictions. If it had too few rows, use "
                "giro.models.Estimator(model, fewest=30)",
                ModelWarning,
                stacklevel=2,
            )


_warned: set[tuple[type, str]] = set()


@functools.cache
def _single_thread() -> Any:
    """Return a limit of one thread for BLAS and OpenMP, as rows are few and runs are parallel."""
    import threadpoolctl  # type: ignore[import-untyped]  # noqa: PLC0415  # as scikit-learn

    return threadpoolctl.ThreadpoolController()


@dataclass(frozen=True, eq=False)
class Estimator(Model, name="estimator"):
    """Any scikit-learn estimator or pipeline: classifiers by `predict_proba`, others by `predict`.

    Bootstrap counts become its `sample_weight`. If the estimator, or a step of the pipeline, takes
    no weights, rows are repeated. A classifier sees a reward r as class 1 with weight r and class 0
    with weight 1 - r, or as a draw of one of them if rows are repeated. A sample with only one
    class, or with fewer than `fewest` draws, is not fitted: the prediction is its mean reward. The
    same happens if the estimator raises an error or predicts something that is not a number. A
    `ModelWarning` says so once, and the next fit that is due uses all rows again.

    A fit starts from the last one if the estimator has `warm_start` and continues from its
    coefficients (`coef_` or `coefs_`). Estimators that would add trees start from scratch. If a
    policy fits at every reward, an estimator with `partial_fit` is updated with the new rows, and
    fitted to all of them whenever they have doubled. A `random_state` of None is drawn again for
    each fit. An integer stays unchanged. Your object is copied and never fitted itself.
    """

    source = "Pedregosa et al. 2011"
    compiles = False
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    value = staticmethod(_value)

    estimator: Any
    fewest: Count = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        """Check that the estimator can be fitted and can predict, and keep an unfitted copy."""
        super().__post_init__()
        abilities_of(self.estimator)
        object.__setattr__(self, "estimator", fresh(self.estimator))
        if hasattr(self.estimator, "partial_fit"):
            object.__setattr__(self, "fitting", "history")

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]  # known with the estimator
        """Whether it has a `sample_weight`."""
        return abilities_of(self.estimator).weighs

    @property
    def text(self) -> str:
        """A text that identifies the estimator, which `parse` cannot read."""
        described = " ".join(repr(self.estimator).split())
        fewest = f",fewest={self.fewest}" if self.fewest > 1 else ""
        return f"{self.name}:{described}{fewest}"

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same kind of estimator with the same parameters."""
        if not isinstance(other, Estimator):
            return NotImplemented
        first, second = self.estimator, other.estimator
        try:
            is_same = first is second or pickle.dumps(first) == pickle.dumps(second)
        except (pickle.PicklingError, AttributeError, TypeError):
            is_same = False  # an estimator that cannot be pickled equals no other
        return is_same and self.fewest == other.fewest

    def __hash__(self) -> int:
        """Return a number that is the same for equal models."""
        return hash((type(self.estimator), self.fewest))

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return slots without a fit, which predict 1/2."""
        fitted: list[Any] = [None] * slots
        return _State(
            self.estimator,
            abilities_of(self.estimator),
            self.fewest,
            fitted,
            np.zeros(slots, bool),
            np.full(slots, _UNKNOWN),
            np.zeros(slots, np.int64),
            np.zeros(slots, np.int64),
            np.zeros(slots, np.int64),
        )
