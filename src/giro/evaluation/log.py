"""Log: decisions of a policy with their probabilities and rewards, as arrays."""

import reprlib
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadParameter
from giro.hashing import are_pairs
from giro.offer import NO_FEATURES, Offer

_SUM_TOLERANCE = 1e-3  # logged probabilities are often rounded


class Log(NamedTuple):
    """Decisions that were rewarded, in the order in which they were made.

    Where arms come and go with the events and are known by features alone, the log is *open*: an
    arm is its place in the event's offer, `arm_names` are the places, and `names` the arms there.
    """

    arm: np.ndarray  # [event] index of the logged arm in arm_names
    arm_names: tuple[str, ...]
    reward: np.ndarray  # [event] in the units of the log
    probability: np.ndarray  # [event] with which the logged arm was chosen, in (0, 1]
    contexts: np.ndarray  # [event, feature], or pairs; no features where there are no contexts
    feature_names: tuple[str, ...]
    eligible: np.ndarray | None = None  # [event, arm] which arms could be chosen; None: all
    probabilities: np.ndarray | None = None  # [event, arm] of all arms, where they were logged
    adaptive: bool = False  # whether the policy that made the log learned from it meanwhile
    left_out: int = 0  # decisions without a reward
    arm_features: np.ndarray | None = None  # [arm, feature] what is known of the arms
    arm_feature_names: tuple[str, ...] = ()
    features: list[np.ndarray] | None = None  # [event][i, feature] of the eligible arms, or pairs
    hashed: bool = False  # whether contexts and features are rows of pairs, see `giro.hashing`
    names: list[tuple[str, ...]] | None = None  # [event][i] of the eligible arms of an open log

    @property
    def events(self) -> int:
        """How many rewarded decisions there are."""
        return int(self.arm.size)

    @property
    def n_arm_features(self) -> int:
        """How many numbers are known of each arm; 0 where features are hashed."""
        if self.hashed:
            return 0
        if self.features is not None:
            return int(self.features[0].shape[1])
        return 0 if self.arm_features is None else int(self.arm_features.shape[1])

    @property
    def n_features(self) -> int:
        """How many numbers are known of each round; 0 where features are hashed."""
        return 0 if self.hashed else int(self.contexts.shape[1])

    def without_arm_features(self) -> "Log":
        """Return the log for those who cannot use features of arms."""
        return self._replace(features=None, arm_features=None)

    def without_features(self) -> "Log":
        """Return the log for those who use no features at all."""
        blind = self.without_arm_features()
        return blind._replace(contexts=np.empty((self.events, 0)), feature_names=(), hashed=False)

    def offer_of(self, event: int) -> Offer:
        """Return what could be chosen, and what was known of it."""
        arms = np.arange(len(self.arm_names))
        arms = arms if self.eligible is None else arms[self.eligible[event]]
        features = NO_FEATURES
        if self.features is not None:
            features = self.features[event]
        elif self.arm_features is not None:
            features = self.arm_features[arms]
        return Offer(arms, np.ascontiguousarray(self.contexts[event], np.float64), features)


def checked(log: Log) -> Log:
    """Return the log, or say what is wrong with its numbers."""
    if log.events == 0:
        without = f": none of its {log.left_out} decisions has a reward" if log.left_out else ""
        raise BadParameter(f"the log is empty{without}")
    _check_finite(log.reward, "reward")
    _check_finite(log.contexts, "context")
    wrong = np.flatnonzero(~((log.probability > 0.0) & (log.probability <= 1.0)))
    if wrong.size:
        raise BadParameter(
            f"event {wrong[0] + 1} has the probability {log.probability[wrong[0]]}; that of a "
            "logged arm lies in (0, 1], for an arm of probability 0 is never chosen"
        )
    if log.eligible is not None:
        wrong = np.flatnonzero(~log.eligible[np.arange(log.events), log.arm])
        if wrong.size:
            name = log.arm_names[log.arm[wrong[0]]]
            raise BadParameter(f"event {wrong[0] + 1} has the arm '{name}', which was not eligible")
    if log.probabilities is not None:
        _check_probabilities(log.probabilities)
    if log.hashed and log.features is None:
        raise BadParameter("a log of hashed features needs those of the eligible arms")
    if log.features is not None:
        (_check_pairs if log.hashed else _check_features)(log, log.features)
    return log


def arm_indices(
    logged: list[str], arms: tuple[str, ...] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the index of each logged arm, and all arms: those given, or the logged ones in order.

    Arms named by whole numbers are in the order of numbers, others in that of the alphabet.
    """
    names = arms if arms is not None else tuple(sorted(set(logged), key=_number_first))
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is listed twice among {', '.join(names)}")
    index = {name: i for i, name in enumerate(names)}
    for event, name in enumerate(logged):
        if name not in index:
            raise BadParameter(
                f"event {event + 1} has the unknown arm '{name}'; the arms are {', '.join(names)}"
            )
    return np.array([index[name] for name in logged], np.int64), names


def places_of(n_arms: int) -> tuple[str, ...]:
    """Return the names of arms that are but places in an offer, from 1."""
    return tuple(str(place + 1) for place in range(n_arms))


def by_event_and_arm(given: Any, log: Log, what: str) -> np.ndarray:
    """Return numbers as an array [event, arm]; `what` names them in errors."""
    wanted = (log.events, len(log.arm_names))
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        raise BadParameter(f"{what} are an array of numbers [event, arm]") from None
    if array.shape != wanted:
        raise BadParameter(
            f"{what} have a row for each of {wanted[0]} events and a column for each of "
            f"{wanted[1]} arms, got an array of shape {array.shape}"
        )
    return array


def _number_first(name: str) -> tuple[bool, int, str]:
    is_number = name.isascii() and name.isdigit()
    return not is_number, int(name) if is_number else 0, name


def _check_finite(values: np.ndarray, what: str) -> None:
    wrong = np.argwhere(~np.isfinite(values))
    if wrong.size:
        value = values[tuple(wrong[0])]
        raise BadParameter(f"event {wrong[0][0] + 1} has the {what} {value}; expected a number")


def _check_probabilities(probabilities: np.ndarray) -> None:
    sums = probabilities.sum(axis=1)
    good = (probabilities >= 0.0).all(axis=1) & (np.abs(sums - 1.0) <= _SUM_TOLERANCE)
    if not good.all():
        wrong = int(np.flatnonzero(~good)[0])
        raise BadParameter(
            f"the probabilities of all arms in event {wrong + 1} are not >= 0 with sum 1: "
            f"{probabilities[wrong]}"
        )


def _check_features(log: Log, by_event: list[np.ndarray]) -> None:
    width = by_event[0].shape[-1] if by_event else 0
    for event, features in enumerate(by_event):
        wanted = (log.offer_of(event).arms.size, width)
        if features.shape != wanted or not np.isfinite(features).all():
            raise BadParameter(
                f"event {event + 1} needs {wanted[1]} finite features of each of {wanted[0]} arms, "
                f"got {reprlib.repr(features.tolist())}"
            )


def _check_pairs(log: Log, by_event: list[np.ndarray]) -> None:
    if not are_pairs(log.contexts):
        raise BadParameter("a context in the log is not a row of codes and values")
    for event, features in enumerate(by_event):
        n_arms = log.offer_of(event).arms.size
        right = features.ndim == 2 and len(features) == n_arms and are_pairs(features)
        if not right or not np.isfinite(features).all():
            raise BadParameter(
                f"event {event + 1} needs codes and finite values of each of {n_arms} arms"
            )
