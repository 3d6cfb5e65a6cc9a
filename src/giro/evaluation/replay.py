"""Replay: a policy plays on the events of a log whose arm it would choose.

Li et al. (2011), Algorithm 3.
"""

import numpy as np

from giro.errors import BadParameter
from giro.evaluation.estimators import Question, Sample, Terms, estimator
from giro.evaluation.log import Log
from giro.evaluation.target import (
    ALWAYS,
    LOGGED,
    Learning,
    Target,
    follow_schema,
    live_policy,
    unit_rewards,
)
from giro.offer import position_of
from giro.policy import Policy
from giro.progress import shown
from giro.seeds import stream

_SAME = 1e-3  # relative difference between probabilities that count as equal: logs round them


@estimator("replay")
def replay(question: Question) -> Terms:
    """Replay on a log that chose all arms equally often (Li et al., 2011)."""
    return _terms(question, rejection=False)


@estimator("rejection-replay")
def rejection_replay(question: Question) -> Terms:
    """Replay on any log, thinned to one that chose all arms equally often."""
    return _terms(question, rejection=True)


def _terms(question: Question, *, rejection: bool) -> Terms:
    log, policy, learning = question.log, question.policy, question.learning
    is_fixed = isinstance(policy, str) and (policy == LOGGED or policy.startswith(ALWAYS))
    if isinstance(policy, str | Policy) and not is_fixed:  # it learns
        policy = Policy.parse(policy)
        kept, name = replayed(policy, log, learning, rejection=rejection), policy.text
    else:
        kept = replayed_target(question.target, log, learning, rejection=rejection)
        name = question.target.name
    note = f"kept {kept.size} of {log.events} events"
    largest = 1.0 if kept.size else 0.0
    sample = Sample(name, kept.size, float(kept.size), largest, notes=(note,))
    return Terms(log.reward[kept], np.ones(kept.size), float(np.ptp(log.reward)), sample)


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
    live, kept = live_policy(policy, log, seed=learning.seed), []
    with shown(f"giro plays {policy} on the log", offered.size) as task:
        for event in offered.tolist():
            offer = follow_schema(live, log, event)
            live.stream_of(event)
            arm = live.choose(offer)
            if arm == log.arm[event]:
                case = live.case_of(offer, position_of(offer, arm))
                live.learn(case, arm, float(rewards[event]))
                kept.append(event)
            task.advance()
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
