"""A policy led through a log: its probabilities in every event, or the events that it keeps.

A *target* has the probabilities of the policy that is to be evaluated, by which estimators weigh
events. In *replay* (Li et al., 2011, Algorithm 3) it plays on the events whose arm it would choose.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from giro.checks import finite_range
from giro.errors import BadParameter, UnknownName
from giro.evaluation.log import Log, by_event_and_arm
from giro.live import LivePolicy
from giro.named import text_of
from giro.offer import Shape, case_of, position_of
from giro.policy import Policy, policies_with_arm_features
from giro.seeds import stream

_SUM_TOLERANCE = 1e-6
_SAME = 1e-3  # relative difference between probabilities that count as equal: logs round them
LOGGED, ALWAYS = "logged", "always:"


def unit_rewards(rewards: np.ndarray, reward_range: Sequence[float] | None) -> np.ndarray:
    """Return (reward - low) / (high - low); without a range rewards have to lie in [0, 1]."""
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
    log = log_for(policy, log)
    live = live_policy(policy, log, seed=seed)
    probabilities, voted = np.zeros((log.events, len(log.arm_names))), 0
    for event in range(log.events):
        offer = log.offer_of(event)
        found = live.propensities(offer)
        if found is None:
            live.stream_of(event)
            found = live.vote(offer, votes)
            voted += 1
        probabilities[event, offer.arms] = found
        arm = int(log.arm[event])
        live.learn(case_of(offer, position_of(offer, arm)), arm, float(rewards[event]))
    return PolicyProbabilities(probabilities, voted)


def log_for(policy: Policy, log: Log) -> Log:
    """Return the log as the policy can use it: without features, where it cannot use them."""
    played = policy.resolved(contextual=True)
    if log.names is not None and not played.uses_arm_features:
        raise BadParameter(
            f"{policy} tells arms apart by their names, and in this log other arms are on offer in "
            "each event: policies that know arms by their features can be evaluated, as "
            f"{', '.join(policies_with_arm_features())}"
        )
    if log.hashed and not played.uses_contexts:
        return log.without_features()
    return log if played.uses_arm_features else log.without_arm_features()


def live_policy(policy: Policy, log: Log, *, seed: int) -> LivePolicy:
    """Return the policy, ready to be led through the log."""
    rounds, widths = max(1, log.events), (log.n_features, log.n_arm_features)
    shape = Shape(len(log.arm_names), *widths, rounds, rounds, log.hashed)
    return LivePolicy(policy, shape, seed=seed)


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
        found = probabilities_in(policy, log, rewards, votes=votes, seed=learning.seed)
        note = f"probabilities by {votes} votes" if found.voted else ""
        return _fixed(log, found.probabilities, policy.text)._replace(note=note)
    if isinstance(policy, Mapping):
        text = ",".join(f"{arm}={text_of(float(share))}" for arm, share in policy.items())
        return _fixed(log, np.tile(_row(policy, log), (log.events, 1)), text)
    if callable(policy):
        rows = [_row(policy(context), log) for context in log.contexts]
        return _fixed(log, rows, getattr(policy, "__name__", "function"))
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
    """Return the probabilities of all arms; those that a mapping does not name have 0."""
    if not isinstance(given, Mapping):
        return given
    row = np.zeros(len(log.arm_names))
    for name, probability in given.items():
        if str(name) not in log.arm_names:
            raise UnknownName("arm", str(name), known=log.arm_names)
        row[log.arm_names.index(str(name))] = probability
    return row


# -- replay ----------------------------------------------------------------------------------------


def replayed(policy: Policy, log: Log, learning: Learning, *, rejection: bool) -> np.ndarray:
    """Return the numbers of the events that the policy kept, in their order.

    In each event the policy chooses. If that is the logged arm, the event is kept and the policy
    learns from it, otherwise nothing happens. The kept events are distributed as that many rounds
    of the policy online, if every arm was logged with the same probability whatever the context.
    With `rejection` a log with other probabilities is first thinned: an event stays with
    probability smallest / its own, so that whatever the policy chooses of an offer, the event is
    kept with the same probability, the smallest, also where other events have another offer.
    """
    offered = _offered(log, learning.seed, rejection=rejection)
    rewards = unit_rewards(log.reward, learning.reward_range)
    log = log_for(policy, log)
    live, kept = live_policy(policy, log, seed=learning.seed), []
    for event in offered.tolist():
        offer = log.offer_of(event)
        live.stream_of(event)
        arm = live.choose(offer)
        if arm == log.arm[event]:
            live.learn(case_of(offer, position_of(offer, arm)), arm, float(rewards[event]))
            kept.append(event)
    return np.array(kept, np.int64)


def replayed_target(target: Target, log: Log, learning: Learning, *, rejection: bool) -> np.ndarray:
    """Return the events on which an arm drawn from the target's probabilities is the logged one."""
    if target.name == LOGGED:
        return np.arange(log.events)
    offered = _offered(log, learning.seed, rejection=rejection)
    drawn = stream(learning.seed, 1, 0).random(offered.size)
    events: np.ndarray = offered[drawn < target.logged[offered]]
    return events


def _offered(log: Log, seed: int, *, rejection: bool) -> np.ndarray:
    """Return the events that make a log in which each arm on offer has the same probability."""
    if rejection:
        known = log.probability if log.probabilities is None else log.probabilities
        if log.eligible is not None and log.probabilities is not None:
            known = np.where(log.eligible, known, 1.0)
        if known.min() == 0.0:
            event = int(np.flatnonzero(known.min(axis=1) == 0.0)[0])
            raise BadParameter(f"no thinning helps: in event {event + 1} an arm had probability 0")
        share = float(known.min()) / log.probability
        return np.flatnonzero(stream(seed, 1, 1).random(log.events) < share)
    if log.eligible is not None:
        raise BadParameter(
            "replay needs a log in which all arms can be chosen in every event; "
            "'rejection-replay' thins another by its known probabilities"
        )
    uniform = 1.0 / len(log.arm_names)
    wrong = np.flatnonzero(np.abs(log.probability / uniform - 1.0) > _SAME)
    if wrong.size:
        raise BadParameter(
            f"replay needs a log that chose each of {len(log.arm_names)} arms with probability "
            f"{uniform:.4g}, event {wrong[0] + 1} has {log.probability[wrong[0]]:.4g}; "
            "'rejection-replay' thins such a log by its known probabilities"
        )
    return np.arange(log.events)
