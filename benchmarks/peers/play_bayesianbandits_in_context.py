"""The linear policies of bayesianbandits in the loop."""

import numpy as np
from bayesianbandits import Arm, ContextualAgent, NormalRegressor, ThompsonSampling
from bayesianbandits import UpperConfidenceBound as Ucb
from contextual_loop import Peer, main


def lin_ucb(n_arms: int, n_features: int) -> Peer:
    """Return its bound, the 84% quantile: one standard deviation above the mean."""
    return _peer(Ucb(alpha=0.84), n_arms)


def lin_ts(n_arms: int, n_features: int) -> Peer:
    """Return Thompson sampling."""
    return _peer(ThompsonSampling(), n_arms)


def _peer(policy: Ucb | ThompsonSampling, n_arms: int) -> Peer:
    """Return an agent; noise of variance 1/4 and a prior as wide, which is a penalty of 1."""
    arms = [Arm(arm, learner=NormalRegressor(alpha=4.0, beta=4.0)) for arm in range(n_arms)]
    agent = ContextualAgent(arms, policy)
    return Peer(
        lambda context: agent.pull(context)[0],
        lambda context, arm, reward: agent.select_for_update(arm).update(
            context, np.array([reward])
        ),
    )


if __name__ == "__main__":
    main({"lin-ucb:scale=1": lin_ucb, "lin-ts:scale=0.5": lin_ts})
