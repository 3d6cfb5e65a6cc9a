"""MABWiser's linear policies in the loop."""

from contextual_loop import Peer, main
from mabwiser.mab import MAB, LearningPolicy


def lin_ucb(n_arms: int, n_features: int) -> Peer:
    """Return LinUCB: alpha = 1."""
    return _peer(LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0), n_arms, n_features)


def lin_ts(n_arms: int, n_features: int) -> Peer:
    """Return LinTS: its alpha is the standard deviation v."""
    return _peer(LearningPolicy.LinTS(alpha=0.5, l2_lambda=1.0), n_arms, n_features)


def _peer(policy: object, n_arms: int, n_features: int) -> Peer:
    """Return the policy after one reward in a context of zeros: it is fitted before it chooses."""
    mab = MAB(list(range(n_arms)), policy)
    mab.fit([0], [0], [[0.0] * n_features])
    return Peer(mab.predict, lambda context, arm, reward: mab.partial_fit([arm], [reward], context))


if __name__ == "__main__":
    main({"lin-ucb:scale=1": lin_ucb, "lin-ts:scale=0.5": lin_ts})
