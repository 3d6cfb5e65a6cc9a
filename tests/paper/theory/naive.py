"""Slow, obvious twins of `giro.paper.theory`, in exact fractions; the judges of the tests here."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

Values = dict[Fraction | float, Fraction]  # value of an arm -> its probability


def binomial(x: int, n: int, p: Fraction) -> Fraction:
    return math.comb(n, x) * p**x * (1 - p) ** (n - x)


def tail(y: int, n: int, p: Fraction) -> Fraction:
    return sum((binomial(x, n, p) for x in range(max(y, 0), n + 1)), Fraction(0))


def history(s: int, ones: int, k: int) -> list[int]:
    return [1] * ones + [0] * (s - ones) + [0, 1] * k


def enumerated_values(entries: Sequence[int]) -> Values:
    """Go through every bootstrap sample of a history, one by one."""
    samples = Counter(sum(sample) for sample in product(entries, repeat=len(entries)))
    every = len(entries) ** len(entries)
    return {Fraction(z, len(entries)): Fraction(count, every) for z, count in samples.items()}


def binomial_values(s: int, ones: int, k: int) -> Values:
    m = s + 2 * k
    return {Fraction(z, m): binomial(z, m, Fraction(ones + k, m)) for z in range(m + 1)}


def arm_values(a: Fraction, s: int, ones: int) -> Values:
    """Return the law of an arm's value, mixed over its two histories."""
    if s == 0:
        return {math.inf: Fraction(1)}
    low, up = math.floor(a * s), a * s - math.floor(a * s)
    mixed: Values = {}
    for k, weight in ((low, 1 - up), (low + 1, up)):
        for value, chance in binomial_values(s, ones, k).items():
            mixed[value] = mixed.get(value, Fraction(0)) + weight * chance
    return mixed


def choices(arms: Sequence[Values], ranking: Sequence[int] | None = None) -> list[Fraction]:
    """Go through every combination of values and see which arm is pulled."""
    wins = [Fraction(0)] * len(arms)
    for joint in product(*(values.items() for values in arms)):
        chance = math.prod((c for _, c in joint), start=Fraction(1))
        best = max(value for value, _ in joint)
        tied = [arm for arm, (value, _) in enumerate(joint) if value == best]
        if ranking is not None:
            tied = [min(tied, key=list(ranking).index)]
        for arm in tied:
            wins[arm] += chance / len(tied)
    return wins


def tree_regret(law, means: Sequence[float], rounds: int, pulls=None, ones=None) -> float:
    """Follow every sequence of arms and rewards, merging nothing."""
    pulls = [0] * len(means) if pulls is None else pulls
    ones = [0] * len(means) if ones is None else ones
    if rounds == 0:
        return 0.0
    total = 0.0
    for arm, chance in enumerate(law(pulls, ones)):
        more = [s + (j == arm) for j, s in enumerate(pulls)]
        win = [v + (j == arm) for j, v in enumerate(ones)]
        later = means[arm] * tree_regret(law, means, rounds - 1, more, win)
        later += (1 - means[arm]) * tree_regret(law, means, rounds - 1, more, ones)
        total += float(chance) * (max(means) - means[arm] + later)
    return total


def play_giro(means: Sequence[float], rounds: int, a: Fraction, rng: np.random.Generator):
    """Play Algorithm 2 by the letter and return the pulled arms; ties are broken at random."""
    observed: list[list[int]] = [[] for _ in means]
    arms = []
    for _ in range(rounds):
        drawn = [drawn_value(rewards, a, rng) for rewards in observed]
        tied = [arm for arm, value in enumerate(drawn) if value == max(drawn)]
        arm = tied[rng.integers(len(tied))]
        observed[arm].append(int(rng.random() < means[arm]))
        arms.append(arm)
    return arms


def drawn_value(rewards: list[int], a: Fraction, rng: np.random.Generator) -> Fraction | float:
    if not rewards:
        return math.inf
    exact = a * len(rewards)
    k = math.floor(exact) + int(rng.random() < exact - math.floor(exact))
    entries = rewards + [0, 1] * k
    sample = [entries[i] for i in rng.integers(len(entries), size=len(entries))]
    return Fraction(sum(sample), len(sample))
