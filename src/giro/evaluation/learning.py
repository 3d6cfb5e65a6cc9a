"""A learning policy led through a log: its probabilities before each event."""

from typing import NamedTuple

import numpy as np

from giro.evaluation.log import Log
from giro.live import LivePolicy
from giro.offer import Shape, case_of, position_of
from giro.policy import Policy


class Found(NamedTuple):
    """The probabilities that a policy gives to all arms, before each event."""

    probabilities: np.ndarray  # [event, arm]
    voted: int  # events whose probabilities are shares of a vote, not exact


def probabilities_in(
    policy: Policy, log: Log, rewards: np.ndarray, *, votes: int, seed: int
) -> Found:
    """Return the policy's probabilities before each event, after learning from all earlier ones.

    They are exact where the policy can tell them, and else the shares of the arms in `votes`
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
    return Found(probabilities, voted)


def log_for(policy: Policy, log: Log) -> Log:
    """Return the log as the policy can use it: without features of arms, where it cannot."""
    return log if policy.uses_arm_features else log.without_arm_features()


def live_policy(policy: Policy, log: Log, *, seed: int) -> LivePolicy:
    """Return the policy, ready to be led through the log."""
    rounds, n_features = max(1, log.events), log.contexts.shape[1]
    shape = Shape(len(log.arm_names), n_features, log.n_arm_features, rounds, rounds)
    return LivePolicy(policy, shape, seed=seed)
