"""MABWiser's policies in the loop."""

from loop import Peer, main
from mabwiser.mab import MAB, LearningPolicy


def ucb1(means: list[float]) -> Peer:
    """Return UCB1: alpha = 1."""
    return _peer(LearningPolicy.UCB1(alpha=1.0), means)


def thompson(means: list[float]) -> Peer:
    """Return Thompson sampling with a Beta(1, 1) prior."""
    return _peer(LearningPolicy.ThompsonSampling(), means)


def _peer(policy: object, means: list[float]) -> Peer:
    """Return the policy after one reward of every arm, as it must be fitted before it chooses."""
    arms = list(range(len(means)))
    mab = MAB(arms, policy)
    mab.fit(arms, [index % 2 for index in arms])
    return Peer(mab.predict, lambda arm, reward: mab.partial_fit([arm], [reward]))


if __name__ == "__main__":
    main({"ucb1": ucb1, "thompson": thompson})
