"""Online cover around ridge regressions, and the coordinate descent that it stands for."""

from typing import Any, NamedTuple

import numpy as np


class OnlineCover:
    """Policies with a ridge regression of each arm, which keep every row and solve each time."""

    def __init__(self, n_arms: int, d: int, psi: float, policies: int) -> None:
        """Begin without rows."""
        self.psi, self.learned = psi, 0
        self.gram = np.tile(np.eye(d), (policies, n_arms, 1, 1))
        self.moment = np.zeros((policies, n_arms, d))
        self.tried = np.zeros(n_arms, bool)

    def votes(self, arms: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return votes[policy, i] for the arms on offer."""
        votes = np.zeros((len(self.gram), arms.size))
        for policy in range(len(self.gram)):
            values: list[Any] = [
                x @ np.linalg.solve(self.gram[policy, arm], self.moment[policy, arm])
                if self.tried[arm]
                else np.inf
                for arm in arms
            ]
            best = np.asarray(np.array(values, float) == max(map(float, values)))
            votes[policy] = best / best.sum()
        return votes

    def floor(self, k: int) -> float:
        """Return ε for K arms on offer."""
        return min(1 / k, 1 / np.sqrt(k * (self.learned + 1)))

    def law(self, arms: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the probability of each arm on offer."""
        epsilon = self.floor(arms.size)
        share = self.votes(arms, x).mean(axis=0)
        return np.asarray(epsilon + (1 - arms.size * epsilon) * share)

    def learn(
        self, arms: np.ndarray, x: np.ndarray, arm: int, reward: float, chance: float
    ) -> None:
        """Give each policy a weighted row: the reward plus its bonus, over 1 + ψ."""
        epsilon, k = self.floor(arms.size), arms.size
        place = list(arms).index(arm)
        votes = self.votes(arms, x)
        for policy in range(len(votes)):
            target = reward
            if policy > 0:
                q = votes[:policy, place].mean()
                bonus = self.psi * epsilon / (epsilon + (1 - k * epsilon) * q)
                target = (reward + bonus) / (1 + self.psi)
            self.gram[policy, arm] += np.outer(x, x) / (k * chance)
            self.moment[policy, arm] += target * x / (k * chance)
        self.tried[arm] = True
        self.learned += 1


class History(NamedTuple):
    """What was seen, and with which probability each arm had been chosen."""

    contexts: np.ndarray  # [t] numbers
    arms: np.ndarray  # [t]
    rewards: np.ndarray  # [t]
    chances: np.ndarray  # [t]
    laws: np.ndarray  # [t, arm]


class Program(NamedTuple):
    """The optimisation problem of Agarwal et al. (2014) for a class of policies."""

    chosen: np.ndarray  # [policy, t] arm
    bound: np.ndarray  # [policy] b, its estimated regret over ψ μ
    n_arms: int
    mu: float

    def variances(self, smoothed: np.ndarray) -> np.ndarray:
        """Return the mean of 1 / p over contexts of each policy's arms, from p[t, arm]."""
        t = np.arange(smoothed.shape[0])
        return np.array([(1 / smoothed[t, arms]).mean() for arms in self.chosen])

    def smoothed(self, weights: np.ndarray, leader: int) -> np.ndarray:
        """Return p[t, arm] of these weights of policies; the leader has what remains of 1."""
        weights = weights.copy()
        weights[leader] += 1 - weights.sum()
        p = np.full((self.chosen.shape[1], self.n_arms), self.mu)
        for policy, arms in enumerate(self.chosen):
            p[np.arange(arms.size), arms] += (1 - self.n_arms * self.mu) * weights[policy]
        return p


def program(class_: np.ndarray, past: History, n_arms: int, psi: float) -> Program:
    """Return the problem after a history, for policies class_[policy, context]."""
    chosen = class_[:, past.contexts]
    gains = np.where(chosen == past.arms, past.rewards / past.chances, 0.0).mean(axis=1)
    mu = min(1 / (2 * n_arms), 1 / np.sqrt(n_arms * past.arms.size))
    return Program(chosen, (gains.max() - gains) / (psi * mu), n_arms, mu)


def coordinate_descent(problem: Program) -> np.ndarray:
    """Return weights of policies by Algorithm 2: shrink all, or add to one explored too little."""
    k, bound = problem.n_arms, problem.bound
    weights, t = np.zeros(bound.size), np.arange(problem.chosen.shape[1])
    while True:
        spent = weights @ (2 * k + bound)
        if spent > 2 * k:
            weights *= 2 * k / spent
        p = np.full((t.size, k), problem.mu)
        for policy, arms in enumerate(problem.chosen):
            p[t, arms] += (1 - k * problem.mu) * weights[policy]
        lacking = problem.variances(p) - (2 * k + bound)
        worst = int(np.argmax(lacking))
        if lacking[worst] <= 0:
            return weights
        taken = p[t, problem.chosen[worst]]
        v, s = (1 / taken).mean(), (1 / taken**2).mean()
        weights[worst] += (v + lacking[worst]) / (2 * (1 - k * problem.mu) * s)
