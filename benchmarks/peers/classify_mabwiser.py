"""MABWiser's LinUCB and LinTS with their defaults, a round at a time."""

import numpy as np
from classify import Outcome, Task, main, play_in_batches
from mabwiser.mab import MAB, LearningPolicy


def play(task: Task, policy: object) -> Outcome:
    """Return how it does; its models have no intercept, so the contexts get a constant."""
    mab = MAB(list(range(task.n_arms)), policy, seed=task.seed)
    bias = np.ones((len(task.rewards), 1))
    mab.fit([], [], np.empty((0, task.contexts.shape[1] + 1)))
    return play_in_batches(
        task._replace(contexts=np.hstack([task.contexts, bias])),
        lambda contexts: np.array([mab.predict(contexts)]),
        lambda contexts, arms, rewards: mab.partial_fit(arms, rewards, contexts),
        batch=1,
    )


if __name__ == "__main__":
    main(
        {
            "lin-ucb": lambda task: play(task, LearningPolicy.LinUCB()),
            "lin-ts": lambda task: play(task, LearningPolicy.LinTS()),
        }
    )
