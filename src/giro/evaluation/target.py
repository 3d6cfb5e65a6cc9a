"""Target: the probabilities of the policy that is to be evaluated, in every event of a log."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from giro.errors import BadParameter, UnknownName
from giro.evaluation.learning import probabilities_in
from giro.evaluation.log import Log
from giro.evaluation.rewards import unit_rewards
from giro.named import text_of
from giro.policy import Policy

_SUM_TOLERANCE = 1e-6
LOGGED, ALWAYS = "logged", "always:"


class Target(NamedTuple):
    """Probabilities of a policy in the events of a log."""

    name: str
    probabilities: np.ndarray  # [event, arm]
    logged: np.ndarray  # [event] of the arm in the log
    note: str = ""  # how they were found


class Learning(NamedTuple):
    """How a learning policy is led through a log."""

    votes: int = 100
    seed: int = 0
    reward_range: tuple[float, float] | None = None


def target_of(policy: Any, log: Log, learning: Learning) -> Target:
    """Return the target that `policy` stands for; see `giro.evaluate`."""
    if isinstance(policy, str) and policy == LOGGED:
        return _logging_policy(log)
    if isinstance(policy, str) and policy.startswith(ALWAYS):
        return _fixed(log, _one_arm(policy.removeprefix(ALWAYS), log), policy)
    if isinstance(policy, str | Policy):
        return _learning(Policy.parse(policy), log, learning)
    if isinstance(policy, Mapping):
        return _fixed(log, _by_arm(policy, log), _text_of_mapping(policy))
    if callable(policy):
        return _fixed(log, _by_context(policy, log), getattr(policy, "__name__", "function"))
    if isinstance(policy, np.ndarray | Sequence):
        return _fixed(log, _as_array(policy), "array")
    raise BadParameter(
        "a policy is a giro policy or its text, 'logged', 'always:ARM', a mapping of arms to "
        f"probabilities, a function of the context or an array, got {type(policy).__name__}"
    )


def restricted(probabilities: np.ndarray, eligible: np.ndarray | None) -> np.ndarray:
    """Return probabilities scaled to sum 1 over the eligible arms, equal ones if all are 0."""
    if eligible is None:
        return probabilities
    kept = np.where(eligible, probabilities, 0.0)
    lost = kept.sum(axis=1) == 0.0
    kept[lost] = eligible[lost]
    scaled: np.ndarray = kept / kept.sum(axis=1, keepdims=True)
    return scaled


def _logging_policy(log: Log) -> Target:
    """Return the policy of the log itself, whose weights are all 1."""
    known = log.probabilities
    if known is None:  # any law does, as the arm in the log has weight 1: DR becomes the mean
        known = np.eye(len(log.arm_names))[log.arm]
    return Target(LOGGED, known, log.probability)


def _learning(policy: Policy, log: Log, learning: Learning) -> Target:
    rewards = unit_rewards(log.reward, learning.reward_range)
    probabilities, voted = probabilities_in(
        policy, log, rewards, votes=learning.votes, seed=learning.seed
    )
    note = f"probabilities by {learning.votes} votes" if voted else ""
    return _fixed(log, probabilities, policy.text)._replace(note=note)


def _fixed(log: Log, probabilities: np.ndarray, name: str) -> Target:
    allowed = restricted(_checked(probabilities, log), log.eligible)
    return Target(name, allowed, allowed[np.arange(log.events), log.arm])


def _checked(probabilities: np.ndarray, log: Log) -> np.ndarray:
    wanted = (log.events, len(log.arm_names))
    if probabilities.shape != wanted:
        raise BadParameter(
            f"probabilities have a row for each of {wanted[0]} events and a column for each of "
            f"{wanted[1]} arms, got an array of shape {probabilities.shape}"
        )
    good = (probabilities >= 0.0).all(axis=1)
    good &= np.abs(probabilities.sum(axis=1) - 1.0) <= _SUM_TOLERANCE
    if not good.all():
        wrong = int(np.flatnonzero(~good)[0])
        raise BadParameter(
            f"the policy's probabilities in event {wrong + 1} are not >= 0 with sum 1: "
            f"{probabilities[wrong]}"
        )
    return probabilities


def _one_arm(name: str, log: Log) -> np.ndarray:
    return _by_arm({name: 1.0}, log)


def _by_arm(by_arm: Mapping[Any, float], log: Log) -> np.ndarray:
    """Return the same row for every event; arms that are not named have probability 0."""
    row = np.zeros(len(log.arm_names))
    for name, probability in by_arm.items():
        if str(name) not in log.arm_names:
            raise UnknownName("arm", str(name), known=log.arm_names)
        row[log.arm_names.index(str(name))] = probability
    return np.tile(row, (log.events, 1))


def _by_context(function: Callable[[np.ndarray], Any], log: Log) -> np.ndarray:
    return np.array([np.asarray(function(context), float) for context in log.contexts])


def _as_array(rows: Any) -> np.ndarray:
    try:
        return np.asarray(rows, float)
    except (TypeError, ValueError):
        raise BadParameter("probabilities are an array of numbers [event, arm]") from None


def _text_of_mapping(by_arm: Mapping[Any, float]) -> str:
    return ",".join(f"{arm}={text_of(float(share))}" for arm, share in by_arm.items())
