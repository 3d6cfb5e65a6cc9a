"""Histories of a few arms, as partial samples and as plain lists of entries."""

import numpy as np

from giro.kernels.giro.partial_sample import PartialSamples, add, empty_samples
from giro.seeds import stream


def some_rewards(kind: str, size: int, seed: int) -> np.ndarray:
    """Return rewards 0 and 1, of three values, of any, or all equal."""
    rng = stream(seed, 41, size)
    if kind == "binary":
        return (rng.random(size) < 0.6).astype(float)
    if kind == "three values":
        return rng.choice([0.0, 0.25, 1.0], size, p=[0.3, 0.3, 0.4])
    return rng.beta(2.0, 3.0, size) if kind == "any" else np.full(size, 0.3)


def partial_samples(histories: list[np.ndarray]) -> PartialSamples:
    """Return partial samples of these rewards, added arm by arm in turn."""
    samples = empty_samples(len(histories), sum(map(len, histories)))
    for i in range(max(map(len, histories))):
        for arm, rewards in enumerate(histories):
            if i < len(rewards):
                add(samples, arm, float(rewards[i]))
    return samples


def entries_of(rewards: np.ndarray, a: int) -> np.ndarray:
    """Return a history with its pseudo rewards, `a` of each kind per reward."""
    return np.concatenate([rewards, np.zeros(a * rewards.size), np.ones(a * rewards.size)])


def literal_means(
    rewards: np.ndarray, a: int, draws: int, rng: np.random.Generator, u: float = 0.0
) -> np.ndarray:
    """Return means of bootstrap samples, entry by entry, each entry weighted by exp(u y)."""
    entries = entries_of(rewards, a)
    weight = np.exp(u * entries)
    law = weight / weight.sum() if u != 0.0 else None
    sums = np.zeros(draws)
    for _ in range(entries.size):
        sums += rng.choice(entries, draws, p=law)
    return sums / entries.size
