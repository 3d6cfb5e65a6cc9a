"""The linear policies of contextualbandits in the loop."""

import numpy as np
from contextual_loop import Peer, main
from contextualbandits.online import LinTS, LinUCB


def lin_ucb(n_arms: int, n_features: int) -> Peer:
    """Return LinUCB: alpha = 1, with its quicker way to take in single rows."""
    return _peer(LinUCB(n_arms, alpha=1.0, lambda_=1.0, fit_intercept=False, method="sm"))


def lin_ts(n_arms: int, n_features: int) -> Peer:
    """Return LinTS: v² = 1/4; updates as above."""
    return _peer(LinTS(n_arms, lambda_=1.0, v_sq=0.25, fit_intercept=False, method="sm"))


def _peer(policy: LinUCB | LinTS) -> Peer:
    return Peer(
        lambda context: int(policy.predict(context)[0]),
        lambda context, arm, reward: policy.partial_fit(
            context, np.array([arm]), np.array([reward])
        ),
    )


if __name__ == "__main__":
    main({"lin-ucb:scale=1": lin_ucb, "lin-ts:scale=0.5": lin_ts})
