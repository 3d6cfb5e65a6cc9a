"""river's policies in the loop."""

from loop import Peer, main
from river import bandit, proba


def ucb1(means: list[float]) -> Peer:
    """Return UCB1: delta = 1, says river."""
    return _peer(bandit.UCB(delta=1), means)


def thompson(means: list[float]) -> Peer:
    """Return Thompson sampling with a Beta(1, 1) prior."""
    return _peer(bandit.ThompsonSampling(reward_obj=proba.Beta()), means)


def _peer(policy: bandit.base.Policy, means: list[float]) -> Peer:
    arms = list(range(len(means)))
    return Peer(lambda: policy.pull(arms), policy.update)


if __name__ == "__main__":
    main({"ucb1": ucb1, "thompson": thompson})
