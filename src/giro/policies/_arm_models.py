"""A reward model for each arm, or one for all, that follows what the arms pay.

States that hold a model in Python cannot be handed to a kernel: hence the `inlined` functions.
"""

from typing import Any, NamedTuple

import numpy as np

from giro.compiling import inlined
from giro.kernels.giro.bootstrap_counts import REAL
from giro.kernels.regression.design import Design, design_of, model_of, put_arm, round_row
from giro.kernels.regression.rows import Rows, append_row, empty_rows, positions_of, set_only_row
from giro.model import Model, Sample, partial_fit, refit, value
from giro.model import start as start_model
from giro.policy import Offer, Shape

_INCREMENTAL, _ONLINE, _SETTLES, _GOES_ON = 0, 1, 2, 3  # how a model follows, see `start_models`


class ArmModels(NamedTuple):
    """Models and the histories that they need."""

    rows: Rows  # only the last one, if the model is incremental
    pulls: np.ndarray  # [model] rows so far
    model: Any  # fitted coefficients, a slot for each model
    counts: np.ndarray  # [i, kind] every observed reward once
    only: np.ndarray  # [1] number of the only row, 0
    follows: int
    design: Design


def start_models(model: Model, shape: Shape, rng: np.random.Generator) -> ArmModels:
    """Return models of no rewards.

    An incremental model takes in each row as it comes, an online one does so with the history at
    hand, a deterministic one is fitted again to the history of the pulled arm, and one that goes on
    (a network) is trained in every round on the histories of all arms, as Kveton et al. (2019),
    Section 6.2, do.
    """
    kept = 1 if model.incremental else shape.capacity
    counts = np.zeros((kept, 3), np.int32)
    counts[:, REAL] = 1
    return ArmModels(
        empty_rows(shape.n_models, shape.width, kept),
        np.zeros(shape.n_models, np.int64),
        start_model(model, shape.n_models, shape.width, shape.capacity, rng),
        counts,
        np.zeros(1, np.int64),
        _follows(model),
        design_of(shape),
    )


def _follows(model: Model) -> int:
    if model.incremental:
        return _INCREMENTAL
    return _ONLINE if model.online else _SETTLES if model.deterministic else _GOES_ON


def fits_to_choose(model: Model) -> bool:
    """Tell whether the model is fitted further whenever it is asked."""
    return _follows(model) == _GOES_ON


def fits_to_choose_now(models: ArmModels) -> bool:
    """Tell the same of models that were started."""
    return models.follows == _GOES_ON


@inlined
def prepare(models: ArmModels, arms: np.ndarray, rng: np.random.Generator) -> None:
    """Train those models of these arms that are trained in every round."""
    if models.follows == _GOES_ON:
        for i in range(1 if models.design.shared else arms.size):
            number = model_of(models.design, arms[i])
            positions = positions_of(models.rows, number)
            if positions.size > 0:
                taken = models.counts[: positions.size]
                refit(models.model, number, Sample(models.rows, positions, taken), rng)


@inlined
def expected(models: ArmModels, offer: Offer, untried: float) -> np.ndarray:
    """Return what the model of each arm on offer expects, `untried` of one without rewards."""
    values, x = np.full(offer.arms.size, untried), round_row(models.design, offer.context)
    for i in range(values.size):
        number = put_arm(models.design, offer, i)
        if models.pulls[number] > 0:
            values[i] = value(models.model, number, x)
    return values


@inlined
def follow(
    models: ArmModels, x: np.ndarray, number: int, reward: float, rng: np.random.Generator
) -> None:
    """Add an observation to the history of a model, and let it follow."""
    models.pulls[number] += 1
    if models.follows == _INCREMENTAL:
        set_only_row(models.rows, x, reward)
        sample = Sample(models.rows, models.only, models.counts[:1])
        partial_fit(models.model, number, sample, rng)
        return
    append_row(models.rows, x, number, reward)
    if models.follows != _GOES_ON:
        positions = positions_of(models.rows, number)
        sample = Sample(models.rows, positions, models.counts[: positions.size])
        if models.follows == _ONLINE:
            partial_fit(models.model, number, sample, rng)
        else:
            refit(models.model, number, sample, rng)
