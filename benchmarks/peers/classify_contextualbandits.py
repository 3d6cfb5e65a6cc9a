"""contextualbandits' bootstrapped Thompson sampling, of two kinds of models with their defaults.

Linear: its own ridge regression, which learns exactly. Logistic: scikit-learn's, by stochastic
gradient. Learns every BATCH rounds, which is what its calls are made for.
"""

from classify import Outcome, Task, main, play_in_batches
from contextualbandits.linreg import LinearRegression
from contextualbandits.online import BootstrappedTS
from sklearn.linear_model import SGDClassifier

BATCH = 50


def bootstrapped_ts(task: Task, model: object) -> Outcome:
    """Return how it does on one core."""
    policy = BootstrappedTS(
        model,
        task.n_arms,
        batch_train=True,
        random_state=task.seed + 1,  # it refuses 0
        njobs_arms=1,
    )
    return play_in_batches(task, policy.predict, policy.partial_fit, batch=BATCH)


if __name__ == "__main__":
    main(
        {
            "linear": lambda task: bootstrapped_ts(task, LinearRegression()),
            "logistic": lambda task: bootstrapped_ts(
                task, SGDClassifier(loss="log_loss", random_state=task.seed)
            ),
        }
    )
