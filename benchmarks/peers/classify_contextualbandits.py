"""contextualbandits' LinUCB, and bootstrapped Thompson sampling of two kinds of models.

All with their defaults. LinUCB learns every round. Thompson sampling learns every BATCH rounds,
which is what its calls are made for; it is for rewards of 0 and 1, so graded ones are rounded at
random to one of these with the same mean before it learns. Its linear model is the library's own
ridge regression, which learns exactly; its logistic one is scikit-learn's, by stochastic gradient.
"""

import numpy as np
from classify import Outcome, Task, main, play_in_batches
from contextualbandits.linreg import LinearRegression
from contextualbandits.online import BootstrappedTS, LinUCB
from sklearn.linear_model import SGDClassifier

BATCH = 50


def lin_ucb(task: Task) -> Outcome:
    """Return how it does on one core."""
    policy = LinUCB(task.n_arms, random_state=task.seed + 1, njobs=1)  # it refuses 0
    return play_in_batches(task, policy.predict, policy.partial_fit, batch=1)


def bootstrapped_ts(task: Task, model: object) -> Outcome:
    """Return how it does on one core."""
    policy = BootstrappedTS(
        model,
        task.n_arms,
        batch_train=True,
        random_state=task.seed + 1,  # it refuses 0
        njobs_arms=1,
    )
    graded, rng = task.graded, np.random.Generator(np.random.PCG64(task.seed))

    def learn(contexts: np.ndarray, arms: np.ndarray, rewards: np.ndarray) -> None:
        if graded:
            rewards = (rng.random(rewards.size) < rewards).astype(float)
        policy.partial_fit(contexts, arms, rewards)

    return play_in_batches(task, policy.predict, learn, batch=BATCH)


if __name__ == "__main__":
    main(
        {
            "lin-ucb": lin_ucb,
            "linear": lambda task: bootstrapped_ts(task, LinearRegression()),
            "logistic": lambda task: bootstrapped_ts(
                task, SGDClassifier(loss="log_loss", random_state=task.seed)
            ),
        }
    )
