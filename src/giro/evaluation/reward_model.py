"""A model of the reward of every arm, fitted to other events than those it is asked about."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.evaluation.log import Log, by_event_and_arm
from giro.hashing import sparse_row, sparse_rows
from giro.models.hashed import Hashed
from giro.offer import Offer, Shape, case_of, position_of
from giro.policies._arm_models import expected, start_any_models, take_case
from giro.seeds import stream

_PENALTY = 1.0  # of the squared coefficients of features scaled to variance 1


class _Model(NamedTuple):
    """Ridge regression per arm, (x'x + penalty)^-1 x'y; its mean where there are no features."""

    intercepts: np.ndarray  # [arm] mean reward
    coefficients: np.ndarray  # [arm, feature] of (context - centre) / scale
    centres: np.ndarray  # [arm, feature]
    scale: np.ndarray  # [feature]
    lowest: float  # rewards it was fitted to
    highest: float

    def predicted(self, contexts: np.ndarray) -> np.ndarray:
        """Return [event, arm], within the rewards the model was fitted to."""
        slopes = self.coefficients / self.scale
        offsets = self.intercepts - np.sum(slopes * self.centres, axis=1)
        predicted: np.ndarray = np.clip(contexts @ slopes.T + offsets, self.lowest, self.highest)
        return predicted


def fitted_rewards(log: Log, folds: int | None) -> np.ndarray:
    """Return [event, arm] the predicted reward, by a model that has not seen the event.

    The model is a ridge regression for each arm on the context. Where arms are known by features
    alone, or features are hashed, it is one hashed linear model for all (`giro.models.Hashed`).

    With `folds`, events are dealt to that many folds in turn and each fold is predicted by a model
    of the others. With None, an event is predicted from earlier ones only (at least half of
    them): for a log whose policy learned, where later events depend on earlier rewards.
    """
    predicted = np.zeros((log.events, len(log.arm_names)))
    is_shared = log.hashed or log.names is not None
    for known, asked in _splits(log.events, folds):
        if known.size and is_shared:
            _predict_by_features(log, known, asked, predicted)
        elif known.size:
            predicted[asked] = _fitted(log, known).predicted(log.contexts[asked])
    return predicted


def checked_predictions(predicted: Any, log: Log) -> np.ndarray:
    """Return predictions of the caller's, or say what is wrong with them."""
    rewards = by_event_and_arm(predicted, log, "predicted rewards")
    if not np.isfinite(rewards).all():
        raise BadParameter("predicted rewards are finite numbers")
    return rewards


def _splits(events: int, folds: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give pairs of (events to fit to, events to predict); each event is predicted once."""
    every = np.arange(events)
    if folds is None:
        ends = [0, *(2**i for i in range(events.bit_length()) if 2**i < events), events]
        for begin, end in itertools.pairwise(ends):
            yield every[:begin], every[begin:end]
        return
    check("a reward model", whole(2), folds=folds)
    for fold in range(min(folds, events)):
        yield every[every % folds != fold], every[every % folds == fold]


def _fitted(log: Log, known: np.ndarray) -> _Model:
    contexts, arm, reward = log.contexts[known], log.arm[known], log.reward[known]
    n_arms, n_features = len(log.arm_names), contexts.shape[1]
    spread = contexts.std(axis=0)
    scale = np.where(spread > 0.0, spread, 1.0)
    model = _Model(
        np.full(n_arms, reward.mean()),  # of an arm that was never seen
        np.zeros((n_arms, n_features)),
        np.zeros((n_arms, n_features)),
        scale,
        float(reward.min()),
        float(reward.max()),
    )
    for k in np.unique(arm):
        its = arm == k
        model.intercepts[k] = reward[its].mean()
        model.centres[k] = contexts[its].mean(axis=0)
        centred = (contexts[its] - model.centres[k]) / scale
        inner = centred.T @ centred + _PENALTY * np.eye(n_features)
        moment = centred.T @ (reward[its] - model.intercepts[k])
        model.coefficients[k] = np.linalg.solve(inner, moment)
    return model


def _predict_by_features(
    log: Log, known: np.ndarray, asked: np.ndarray, predicted: np.ndarray
) -> None:
    """Fill in what one model of all arms expects of the eligible arms, after the known events."""
    rewards = log.reward[known]
    low, high = float(rewards.min()), float(rewards.max())
    spread = high - low if high > low else 1.0
    model, rng = Hashed(offset=float((rewards.mean() - low) / spread)), stream(0)  # draws nothing
    shape = Shape(len(log.arm_names), log.n_features, log.n_arm_features, 1, 1, log.hashed)
    models = start_any_models(model, shape, rng)
    for event in known.tolist():
        offer, arm = _seen(log, event), int(log.arm[event])
        unit = float((log.reward[event] - low) / spread)
        take_case(models, case_of(offer, position_of(offer, arm)), arm, unit, rng)
    for event in asked.tolist():
        offer = _seen(log, event)
        values = low + spread * expected(models, offer, 0.0)
        predicted[event, offer.arms] = np.clip(values, low, high)


def _seen(log: Log, event: int) -> Offer:
    """Return the offer of an event as models see it."""
    offer = log.offer_of(event)
    if not log.hashed:
        return offer
    return Offer(offer.arms, sparse_row(offer.context), sparse_rows(offer.features))
