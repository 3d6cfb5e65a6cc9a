"""giro's policies written in plain NumPy, all runs of Bernoulli arms at once.

Every round is a handful of operations on [run, arm] arrays, the way such simulations are usually
written. A tie goes to the first arm. With rewards 0 and 1 the sums of resampled rewards are
binomial and those of subsamples hypergeometric, so nothing is drawn entry by entry here either.
"""

from typing import ClassVar

import numpy as np

from giro.policies.epsilon_greedy import b_for_share

N_ARMS = 10


class Twin:
    """Counts of every run; a subclass says how it values or chooses arms."""

    tries_all_first: ClassVar[bool] = True

    def __init__(self, runs: int, rounds: int, rng: np.random.Generator) -> None:
        """Start all runs."""
        self.every_run = np.arange(runs)
        self.pulls, self.ones = np.zeros((2, runs, N_ARMS), np.int64)

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return what the arms are worth before round t, counted from 1, [run, arm]."""
        raise NotImplementedError

    def choose(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the arm that each run pulls, [run]."""
        if self.tries_all_first and t <= N_ARMS:
            return np.full(self.every_run.size, t - 1)
        return self.values(t, rng).argmax(axis=1)

    def learn(self, arms: np.ndarray, rewards: np.ndarray, rng: np.random.Generator) -> None:
        """Take in the reward of each run, [run]."""
        self.pulls[self.every_run, arms] += 1
        self.ones[self.every_run, arms] += rewards


class Uniform(Twin):
    """Any arm."""

    def choose(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the arm that each run pulls, [run]."""
        return rng.integers(0, N_ARMS, self.every_run.size)


class Greedy(Twin):
    """The highest mean."""

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return means."""
        return self.ones / self.pulls


class EpsilonGreedy(Twin):
    """The highest mean, untried arms first, or now and then any arm."""

    def __init__(self, runs: int, rounds: int, rng: np.random.Generator) -> None:
        """Start all runs."""
        super().__init__(runs, rounds, rng)
        self.b = b_for_share(0.01, rounds)

    def choose(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the arm that each run pulls, [run]."""
        runs = self.every_run.size
        means = np.where(self.pulls > 0, self.ones / np.maximum(self.pulls, 1), np.inf)
        explores = rng.random(runs) < self.b / t
        return np.where(explores, rng.integers(0, N_ARMS, runs), means.argmax(axis=1))


class Ucb1(Twin):
    """The highest upper confidence bound."""

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the bounds."""
        return self.ones / self.pulls + np.sqrt(2 * np.log(t - 1) / self.pulls)


class KlUcb(Twin):
    """The highest mean that the rewards do not rule out, c = 3."""

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices by Newton's method, all arms until the last one is found."""
        budget = np.log(t) + 3 * np.log(np.log(t))
        p, level = np.clip(self.ones / self.pulls, 1e-9, 1 - 1e-9), budget / self.pulls
        tail = (1 - p) * np.exp((p * np.log(p) - level) / (1 - p))
        q = np.minimum(p + np.sqrt(level / 2), 1 - np.maximum(tail, 1e-12))
        for _ in range(30):
            kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
            step = np.maximum((kl - level) * q * (1 - q) / (q - p), 0)
            q -= step
            if step.max() < 1e-6:
                break
        return q


class Thompson(Twin):
    """The highest draw from Beta posteriors; the weighted bootstrap has the same law."""

    tries_all_first = False

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the draws."""
        return rng.beta(1 + self.ones, 1 + self.pulls - self.ones)


class Giro(Twin):
    """The highest bootstrap mean with k pseudo rewards of each kind, a = 1."""

    def pseudo_counts(self, rng: np.random.Generator) -> np.ndarray:
        """Return k."""
        return self.pulls

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the bootstrap means."""
        k = self.pseudo_counts(rng)
        m = self.pulls + 2 * k
        return rng.binomial(m, (self.ones + k) / m) / m


class TenthGiro(Giro):
    """Giro with a = 1/10."""

    def pseudo_counts(self, rng: np.random.Generator) -> np.ndarray:
        """Return k, rounded up with the probability of the digits lost."""
        return (self.pulls / 10 + rng.random(self.pulls.shape)).astype(np.int64)


class Bootstrap(Twin):
    """The highest bootstrap mean without pseudo rewards."""

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the bootstrap means."""
        return rng.binomial(self.pulls, self.ones / self.pulls) / self.pulls


class BootstrapThompson(Twin):
    """The highest bootstrap mean with one zero and one one in the history."""

    tries_all_first = False

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the bootstrap means."""
        m = self.pulls + 2
        return rng.binomial(m, (self.ones + 1) / m) / m


class Phe(Twin):
    """The highest mean of rewards and 1.1 coin flips per pull."""

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the perturbed means."""
        m = (11 * self.pulls + 9) // 10
        return (self.ones + rng.binomial(m, 0.5)) / (self.pulls + m)


class OnlineBootstrap(Twin):
    """The highest mean among replicas that saw half of the rewards, one replica for each arm.

    Ties are broken at random: many replicas have seen the prior only, and if the first of them
    always won, later arms would be tried less than by giro.
    """

    tries_all_first = False
    replicas = 1000

    def __init__(self, runs: int, rounds: int, rng: np.random.Generator) -> None:
        """Start all runs, every replica with a one and a zero."""
        super().__init__(runs, rounds, rng)
        self.total = np.ones((runs, N_ARMS, self.replicas))
        self.size = np.full((runs, N_ARMS, self.replicas), 2.0)

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the means of one replica for each arm."""
        replica = rng.integers(0, self.replicas, self.pulls.shape)
        chosen = (self.every_run[:, None], np.arange(N_ARMS), replica)
        return self.total[chosen] / self.size[chosen] + 1e-9 * rng.random(replica.shape)

    def learn(self, arms: np.ndarray, rewards: np.ndarray, rng: np.random.Generator) -> None:
        """Show each reward to half of the replicas."""
        coins = rng.integers(0, 2, (arms.size, self.replicas), dtype=np.bool_)
        self.total[self.every_run, arms] += coins * rewards[:, None]
        self.size[self.every_run, arms] += coins


class Besa(Twin):
    """The winner of a random tournament, duels that do not wait for others at the same time."""

    def __init__(self, runs: int, rounds: int, rng: np.random.Generator) -> None:
        """Start all runs."""
        super().__init__(runs, rounds, rng)
        self.order = np.tile(np.arange(N_ARMS), (runs, 1))
        self.levels = duels_by_level(bracket(N_ARMS))

    def choose(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the arm that each run pulls, [run]."""
        if t <= N_ARMS:
            return np.full(self.every_run.size, t - 1)
        arms = rng.permuted(self.order, axis=1)
        for first, second in self.levels:
            arms[:, first] = self.winners(arms[:, first], arms[:, second], rng)
        return arms[:, 0]

    def winners(self, a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the winners of duels: higher sum, else fewer pulls, else a coin, [run, duel]."""
        runs = self.every_run[:, None]
        swapped = self.pulls[runs, a] > self.pulls[runs, b]
        a, b = np.where(swapped, b, a), np.where(swapped, a, b)
        n, n_b, ones = self.pulls[runs, a], self.pulls[runs, b], self.ones[runs, b]
        lead = self.ones[runs, a] - rng.hypergeometric(ones, n_b - ones, n)
        wins_tie = (n < n_b) | (rng.random(n.shape) < 0.5)
        return np.where((lead > 0) | ((lead == 0) & wins_tie), a, b)


def bracket(n: int) -> list[tuple[int, int]]:
    """Return the duels of n places: neighbours among ever fewer parts, the winner takes the first.

    >>> bracket(5)
    [(3, 4), (0, 1), (2, 3), (0, 2)]
    """
    duels = []
    for parts in range((n - 1).bit_length(), 0, -1):
        for part in range(0, 1 << parts, 2):
            first, middle, last = (((part + i) * n) >> parts for i in range(3))
            if first < middle < last:
                duels.append((first, middle))
    return duels


def duels_by_level(duels: list[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """Return the duels grouped so that each is after those which decide who takes part in it.

    >>> duels_by_level([(0, 1), (3, 4), (2, 3), (0, 2)])
    [([0, 3], [1, 4]), ([2], [3]), ([0], [2])]
    """
    level = [0] * (1 + max(place for duel in duels for place in duel))
    levels: dict[int, list[tuple[int, int]]] = {}
    for first, second in duels:
        level[first] = 1 + max(level[first], level[second])
        levels.setdefault(level[first], []).append((first, second))
    return [([f for f, _ in group], [s for _, s in group]) for _, group in sorted(levels.items())]


class Ensemble(Twin):
    """The best arm of one of 20 models that saw rewards with their own noise."""

    tries_all_first = False
    models = 20

    def __init__(self, runs: int, rounds: int, rng: np.random.Generator) -> None:
        """Start all runs with draws from the prior, which counts for one reward."""
        super().__init__(runs, rounds, rng)
        self.total = rng.normal(0.5, 0.5, (runs, N_ARMS, self.models))

    def values(self, t: int, rng: np.random.Generator) -> np.ndarray:
        """Return the means of the arms in the chosen models."""
        model = rng.integers(0, self.models, self.every_run.size)
        return self.total[self.every_run, :, model] / (1 + self.pulls)

    def learn(self, arms: np.ndarray, rewards: np.ndarray, rng: np.random.Generator) -> None:
        """Show each reward to every model."""
        super().learn(arms, rewards, rng)
        noise = rng.normal(0.0, 0.5, (arms.size, self.models))
        self.total[self.every_run, arms] += rewards[:, None] + noise


TWINS: dict[str, type[Twin]] = {  # text of a giro policy -> its twin
    "uniform": Uniform,
    "greedy": Greedy,
    "epsilon-greedy": EpsilonGreedy,
    "ucb1": Ucb1,
    "kl-ucb": KlUcb,
    "thompson": Thompson,
    "giro:a=1": Giro,
    "giro:a=1/10": TenthGiro,
    "bootstrap": Bootstrap,
    "bootstrap-thompson": BootstrapThompson,
    "weighted-bootstrap": Thompson,
    "phe": Phe,
    "online-bootstrap": OnlineBootstrap,
    "besa": Besa,
    "ensemble": Ensemble,
}
