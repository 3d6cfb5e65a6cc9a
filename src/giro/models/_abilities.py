"""What a scikit-learn estimator can do, found out before it is used."""

import inspect
import numbers
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from giro.errors import BadParameter, needs_extra


class Abilities(NamedTuple):
    """How an estimator is to be fitted and asked."""

    classifies: bool
    weighs: bool  # takes weights; otherwise rows are repeated
    weights: tuple[str, ...]  # parameters of `fit` for the weights
    weighs_parts: bool  # `partial_fit` takes weights
    seeds: tuple[str, ...]  # parameters to be set to an integer before each fit
    warm: str | None  # the parameter that lets a fit begin at the last one

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Silence complaints that a fit has not converged, where the next one goes on from it."""
        if self.warm is None:
            yield
            return
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415  # quick start

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield


def abilities_of(estimator: Any) -> Abilities:
    """Return what the estimator can do; it needs `fit`, and `predict` or `predict_proba`."""
    _check_methods(estimator)
    seeds = tuple(  # those that would not repeat themselves, or share a generator
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


def fresh(estimator: Any) -> Any:
    """Return an unfitted copy."""
    from sklearn.base import clone  # noqa: PLC0415  # quick start: only when needed

    return clone(estimator, safe=False)


def goes_on(fitted: Any, abilities: Abilities) -> bool:
    """Let the next fit begin at the coefficients of the last, and tell whether it will.

    With `warm_start` a linear model or a network starts from its coefficients, but a forest or
    boosting keeps its trees, which were grown on another sample, and adds new ones. So only what
    has `coef_` or `coefs_` and no `estimators_` goes on.
    """
    last = _last_step(fitted)
    has_coefficients = hasattr(last, "coef_") or hasattr(last, "coefs_")
    if abilities.warm is None or not has_coefficients or hasattr(last, "estimators_"):
        return False
    fitted.set_params(**{abilities.warm: True})
    return True


def _check_methods(estimator: Any) -> None:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise BadParameter(f"an estimator is wanted, got its class: say {name}() for {name}")
    can_answer = hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")
    if not hasattr(estimator, "fit") or not can_answer:
        raise BadParameter(
            "a model, its text, or a scikit-learn estimator with fit and predict is wanted, "
            f"got {estimator!r}"
        )
    with needs_extra("an estimator", "scikit-learn", extra="models"):
        from sklearn.base import is_classifier  # noqa: PLC0415  # quick start: only when needed

    classifies = hasattr(estimator, "__sklearn_tags__") and is_classifier(estimator)
    if classifies and not hasattr(estimator, "predict_proba"):
        raise BadParameter(
            f"{estimator!r} is a classifier without predict_proba, which says how likely a reward "
            "is: wrap it as sklearn.calibration.CalibratedClassifierCV(estimator)"
        )


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters, those of the steps and of estimators inside as `step__name`."""
    return dict(estimator.get_params(deep=True)) if hasattr(estimator, "get_params") else {}


def _weight_parameters(estimator: Any) -> tuple[str, ...] | None:
    """Return which parameters of `fit` take weights, or None if not all that is fitted does.

    If a step of a pipeline took no weights, it would see each row once, however often it was drawn.
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


def _last_step(estimator: Any) -> Any:
    steps = getattr(estimator, "steps", None)
    return estimator if steps is None else _last_step(steps[-1][1])


def _warm_parameter(estimator: Any) -> str | None:
    """Return `warm_start`, or `step__warm_start` of a pipeline's last step, if there is one."""
    steps = getattr(estimator, "steps", None)
    if steps is None:
        return "warm_start" if "warm_start" in _parameters(estimator) else None
    inner = _warm_parameter(steps[-1][1])
    return None if inner is None else f"{steps[-1][0]}__{inner}"
