"""Samples of one arm's rows, made by hand for the tests of models."""

import numpy as np

from giro.kernels.regression.rows import append_row, empty_rows, positions_of
from giro.model import Model, Sample, refit, start
from giro.seeds import stream


def sample_of(contexts: np.ndarray, rewards: np.ndarray, counts: np.ndarray) -> Sample:
    rows = empty_rows(1, contexts.shape[1], len(rewards))
    for context, reward in zip(contexts, rewards, strict=True):
        append_row(rows, context, 0, float(reward))
    return Sample(rows, positions_of(rows, 0), counts)


def fitted(model: Model, sample: Sample, *, seed: int = 0):
    """Return the state of one slot, fitted to the sample."""
    rng = stream(seed, 9)
    state = start(model, 1, sample.rows.base.size, sample.rows.rewards.size, rng)
    refit(state, 0, sample, rng)
    return state


def written_out(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return contexts and rewards with a row for each draw."""
    s, times = sample.positions.size, sample.counts.T.ravel()
    contexts = np.tile(sample.rows.contexts[:s], (3, 1))
    rewards = np.concatenate([sample.rows.rewards[:s], np.ones(s), np.zeros(s)])
    return np.repeat(contexts, times, axis=0), np.repeat(rewards, times)
