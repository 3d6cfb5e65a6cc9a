"""Target: the probabilities of the policy that is to be evaluated, in every event of a log."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from giro.checks import finite_range
from giro.errors import BadParameter, UnknownName
from giro.evaluation.log import Log, by_event_and_arm
from giro.live import LivePolicy, usable_schema
from giro.named import text_of
from giro.offer import Offer, position_of
from giro.policy import Policy, policies_with_arm_features
from giro.progress import shown

_SUM_TOLERANCE = 1e-6
LOGGED, ALWAYS = "logged", "always:"


def unit_rewards(rewards: np.ndarray, reward_range: Sequence[float] | None) -> np.ndarray:
    """Return (reward - low) / (high - low).

    Without a range, rewards have to lie in [0, 1].
    """
    low, high = (0.0, 1.0) if reward_range is None else finite_range(reward_range)
    outside = np.flatnonzero((rewards < low) | (rewards > high))
    if outside.size:
        hint = "; say reward_range=(low, high)" if reward_range is None else ""
        raise BadParameter(
            f"event {outside[0] + 1} has the reward {rewards[outside[0]]}, "
            f"policies learn from rewards in [{low:g}, {high:g}]{hint}"
        )
    return (rewards - low) / (high - low)


class PolicyProbabilities(NamedTuple):
    """The probabilities that a policy gives to all arms, before each event."""

    probabilities: np.ndarray  # [event, arm]
    voted: int  # events whose probabilities are shares of a vote, not exact


def probabilities_in(
    policy: Policy, log: Log, rewards: np.ndarray, *, votes: int, seed: int
) -> PolicyProbabilities:
    """Return the policy's probabilities before each event, after learning from all earlier ones.

    They are exact where the policy can tell them, and otherwise the shares of the arms in `votes`
    independent choices. Such shares are right on average and do not depend on the logged reward,
    so that estimates that are linear in them (IPS, DR) stay unbiased.
    """
    live, voted = live_policy(policy, log, seed=seed), 0
    probabilities = np.zeros((log.events, len(log.arm_names)))
    with shown(f"giro leads {policy} through the log", log.events) as task:
        for event in range(log.events):
            offer = follow_schema(live, log, event)
            chances = live.propensities(offer)
            if chances is None:
                live.stream_of(event)
                chances = live.vote(offer, votes)
                voted += 1
            probabilities[event, offer.arms] = chances
            arm = int(log.arm[event])
            case = live.case_of(offer, position_of(offer, arm), float(log.probability[event]))
            live.learn(case, arm, float(rewards[event]))
            task.advance()
    return PolicyProbabilities(probabilities, voted)


def live_policy(policy: Policy, log: Log, *, seed: int) -> LivePolicy:
    """Return the policy that a bandit with the log's schema would have, before the first event."""
    played = policy.resolved(contextual=True)
    if log.names is not None and not played.uses_arm_features:
        raise BadParameter(
            f"{policy} tells arms apart by their names, and in this log other arms are on offer in "
            "each event: policies that know arms by their features can be evaluated, as "
            f"{', '.join(policies_with_arm_features())}"
        )
    schema = usable_schema(policy, log.schema_at(0))
    return LivePolicy(policy, schema, n_arms=len(log.arm_names), seed=seed, rounds=log.events)


def follow_schema(live: LivePolicy, log: Log, event: int) -> Offer:
    """Return the offer of an event, after the policy has grown to the columns known then."""
    if log.widths is not None:
        schema = usable_schema(live.policy, log.schema_at(event))
        if schema != live.schema:
            live.widen_to(schema)
    return log.offer_of(event)


class Target(NamedTuple):
    """Probabilities of a policy in the events of a log."""

    name: str
    probabilities: np.ndarray  # [event, arm]
    logged: np.ndarray  # [event] of the arm in the log
    note: str = ""  # how they were found


class Learning(NamedTuple):
    """Settings for leading a learning policy through a log."""

    votes: int = 100
    seed: int = 0
    reward_range: tuple[float, float] | None = None


def target_of(policy: Any, log: Log, learning: Learning) -> Target:
    """Return the target that `policy` stands for.

    See `giro.evaluate` for the forms of a policy.
    """
    if isinstance(policy, str) and policy == LOGGED:
        known = log.probabilities
        if known is None:  # any do, as the arm in the log has weight 1: DR becomes the mean
            known = np.eye(len(log.arm_names))[log.arm]
        return Target(LOGGED, known, log.probability)
    if isinstance(policy, str) and policy.startswith(ALWAYS):
        row = _row({policy.removeprefix(ALWAYS): 1.0}, log)
        return _fixed(log, np.tile(row, (log.events, 1)), policy)
    if isinstance(policy, str | Policy):
        policy, votes = Policy.parse(policy), learning.votes
        rewards = unit_rewards(log.reward, learning.reward_range)
        answer = probabilities_in(policy, log, rewards, votes=votes, seed=learning.seed)
        note = f"probabilities by {votes} votes" if answer.voted else ""
        return _fixed(log, answer.probabilities, policy.text)._replace(note=note)
    if isinstance(policy, Mapping):
        row = _row(policy, log)
        text = ",".join(f"{arm}={text_of(float(share))}" for arm, share in policy.items())
        return _fixed(log, np.tile(row, (log.events, 1)), text)
    if callable(policy):
        rows = [_row(policy(log.context(event)), log) for event in range(log.events)]
        return _fixed(log, rows, getattr(policy, "__name__", "function"))
    if isinstance(policy, Sequence) and any(isinstance(each, str | Policy) for each in policy):
        raise BadParameter(f"evaluate takes one policy at a time, got {len(policy)}")
    if isinstance(policy, np.ndarray | Sequence):
        return _fixed(log, policy, "array")
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


def _fixed(log: Log, given: Any, name: str) -> Target:
    """Return the target with these probabilities, [event, arm], restricted to eligible arms."""
    probabilities = by_event_and_arm(given, log, "probabilities")
    good = (probabilities >= 0.0).all(axis=1)
    good &= np.abs(probabilities.sum(axis=1) - 1.0) <= _SUM_TOLERANCE
    if not good.all():
        wrong = int(np.flatnonzero(~good)[0])
        raise BadParameter(
            f"the policy's probabilities in event {wrong + 1} are not >= 0 with sum 1: "
            f"{probabilities[wrong]}"
        )
    allowed = restricted(probabilities, log.eligible)
    return Target(name, allowed, allowed[np.arange(log.events), log.arm])


def _row(given: Any, log: Log) -> Any:
    """Return the probabilities of all arms.

    Arms that a mapping does not name have 0.
    """
    if not isinstance(given, Mapping):
        return given
    row = np.zeros(len(log.arm_names))
    for name, probability in given.items():
        if str(name) not in log.arm_names:
            raise UnknownName("arm", str(name), known=log.arm_names)
        if not isinstance(probability, int | float | np.number):
            raise BadParameter(
                f"a mapping has a probability for each arm, and for '{name}' it has {probability!r}"
            )
        row[log.arm_names.index(str(name))] = probability
    return row
