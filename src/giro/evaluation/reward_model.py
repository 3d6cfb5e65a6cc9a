"""A model of the reward of every arm, fitted to other events than those it is asked about."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from giro.checks import check, whole
from giro.compiling import borrowed, kernel
from giro.errors import BadParameter
from giro.evaluation.log import Log, by_event_and_arm
from giro.live import LivePolicy, seen_offer
from giro.model import Model
from giro.models.estimator import as_model
from giro.models.hashed import Hashed
from giro.models.linear import Linear
from giro.offer import position_of
from giro.policies._arm_models import expected
from giro.policies.greedy import Greedy
from giro.progress import shown


def fitted_rewards(log: Log, folds: int | None, model: Any = None) -> np.ndarray:
    """Return [event, arm] the predicted reward, by a model that has not seen the event.

    `model` is any of `giro.models`. By default it is `linear`, for each arm, of how much a reward
    differs from the mean; where arms are known by features alone, or features are hashed, it is
    `hashed`, one for all. It sees contexts as policies do, standardised.

    With `folds`, events are dealt to that many folds in turn and each fold is predicted by a model
    of the others. With None, an event is predicted from earlier ones only (at least half of
    them): for a log whose policy learned, where later events depend on earlier rewards.
    """
    predicted = np.zeros((log.events, len(log.arm_names)))
    chosen = None if model is None else as_model(model)
    with shown("giro predicts the rewards of the log", log.events) as task:
        for known, asked in _splits(log.events, folds):
            if known.size:
                _predict(log, known, asked, predicted, _scaled_for(log, known, chosen))
            task.advance(asked.size)
    return predicted


def checked_predictions(predicted: Any, log: Log) -> np.ndarray:
    """Return the caller's predictions after checking them."""
    rewards = by_event_and_arm(predicted, log, "predicted rewards")
    if not np.isfinite(rewards).all():
        raise BadParameter("predicted rewards are finite numbers")
    return rewards


def _splits(events: int, folds: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of (events to fit to, events to predict).

    Each event is predicted once.
    """
    every = np.arange(events)
    if folds is None:
        ends = [0, *(2**i for i in range(events.bit_length()) if 2**i < events), events]
        for begin, end in itertools.pairwise(ends):
            yield every[:begin], every[begin:end]
        return
    check("a reward model", whole(2), folds=folds)
    for fold in range(min(folds, events)):
        yield every[every % folds != fold], every[every % folds == fold]


class _Scaled(NamedTuple):
    """A model, and how it sees rewards: less `base`, over `scale`."""

    model: Model
    base: float
    scale: float
    low: float  # of the rewards it is fitted to
    high: float


def _scaled_for(log: Log, known: np.ndarray, model: Model | None) -> _Scaled:
    rewards = log.reward[known]
    low, high, mean = float(rewards.min()), float(rewards.max()), float(rewards.mean())
    span = high - low if high > low else 1.0
    if model is None and not (log.schema.is_sparse or log.names is not None):
        return _Scaled(Linear(), mean, 1.0, low, high)
    if model is None:
        model = Hashed(offset=(mean - low) / span)
    return _Scaled(model, low, span, low, high)


def _predict(
    log: Log, known: np.ndarray, asked: np.ndarray, predicted: np.ndarray, by: _Scaled
) -> None:
    """Predict the rewards of eligible arms in the asked events by a model of the known ones."""
    policy = Greedy(model=by.model)
    live = LivePolicy(policy, log.schema, n_arms=len(log.arm_names), seed=0, capacity=known.size)
    for event in known.tolist():
        offer, arm = log.offer_of(event), int(log.arm[event])
        case = live.case_of(offer, position_of(offer, arm))
        live.learn(case, arm, float((log.reward[event] - by.base) / by.scale))
    untried = float((log.reward[known].mean() - by.base) / by.scale)
    for event in asked.tolist():
        offer = log.offer_of(event)
        values = by.base + by.scale * live.ask(_expected, offer, untried)
        predicted[event, offer.arms] = np.clip(values, by.low, by.high)


@kernel
def _expected(
    held: Any, arms: np.ndarray, context: Any, features: Any, untried: float
) -> np.ndarray:
    """Return the reward that the model expects of each arm on offer."""
    offer = seen_offer(held.moments, arms, context, features)
    return expected(borrowed(held.state).models, offer, untried)
