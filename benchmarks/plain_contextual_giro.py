"""Contextual Giro written plainly, with scikit-learn's Ridge: what the engine is measured against.

Kveton et al. (2019), Algorithm 3, a = 1. Rows drawn several times, with their own or a pseudo
reward, are given to the fit once, with their weight and their mean reward: the same coefficients
as from every entry on its own, with a third of the rows.
"""

import numpy as np
from sklearn.linear_model import Ridge


class PlainContextualGiro:
    """Histories of all arms, with room for so many rounds."""

    def __init__(self, n_arms: int, n_features: int, rounds: int) -> None:
        """Start with empty histories."""
        self.contexts = np.empty((n_arms, rounds, n_features))
        self.rewards = np.empty((n_arms, rounds))
        self.length = np.zeros(n_arms, np.int64)

    def choose(self, context: np.ndarray, rng: np.random.Generator) -> int:
        """Return the arm whose model, fitted to a bootstrap sample, expects most."""
        if self.length.min() == 0:
            return int(rng.choice(np.flatnonzero(self.length == 0)))
        values = [self._value(arm, context, rng) for arm in range(self.length.size)]
        return int(np.argmax(values))

    def learn(self, context: np.ndarray, arm: int, reward: float) -> None:
        """Take in a reward."""
        self.contexts[arm, self.length[arm]] = context
        self.rewards[arm, self.length[arm]] = reward
        self.length[arm] += 1

    def _value(self, arm: int, context: np.ndarray, rng: np.random.Generator) -> float:
        s = self.length[arm]
        drawn = rng.integers(0, 3 * s, size=3 * s)
        counts = np.bincount(drawn, minlength=3 * s).reshape(3, s).T
        model = fitted(self.contexts[arm, :s], self.rewards[arm, :s], counts)
        return float(model.predict(context[None])[0])


def fitted(contexts: np.ndarray, rewards: np.ndarray, counts: np.ndarray) -> Ridge:
    """Return the fit to rows drawn counts[i, (with own reward, with 1, with 0)] times."""
    weights = counts.sum(axis=1)
    totals = counts[:, 0] * rewards + counts[:, 1]
    kept = weights > 0
    model = Ridge(alpha=1.0, fit_intercept=False)
    return model.fit(contexts[kept], totals[kept] / weights[kept], sample_weight=weights[kept])


def play(contexts: np.ndarray, labels: np.ndarray, n_arms: int, rng: np.random.Generator) -> float:
    """Return the mean reward of a run that meets these rows."""
    policy = PlainContextualGiro(n_arms, contexts.shape[1], labels.size)
    total = 0.0
    for context, label in zip(contexts, labels, strict=True):
        arm = policy.choose(context, rng)
        reward = float(arm == label)
        policy.learn(context, arm, reward)
        total += reward
    return total / labels.size
