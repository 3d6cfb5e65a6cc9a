"""A bootstrap sample as scikit-learn wants it: contexts, targets and weights."""

from typing import NamedTuple

import numpy as np

from giro.kernels.draws.binomial import binomials
from giro.kernels.giro.bootstrap_counts import ONE, REAL
from giro.model import Sample


class TrainingRows(NamedTuple):
    """What to fit to; no weight is 0."""

    contexts: np.ndarray  # [i, feature]
    targets: np.ndarray  # [i] rewards, or classes 0 and 1
    weights: np.ndarray  # [i] how often the row is in the sample
    draws: int  # in the sample altogether

    @property
    def is_one_class(self) -> bool:
        """Whether all targets are the same."""
        return bool((self.targets == self.targets[0]).all())

    @property
    def mean(self) -> float:
        """The mean reward in the sample."""
        return float(np.average(self.targets, weights=self.weights))


def training_rows(
    sample: Sample, *, classifies: bool, rng: np.random.Generator | None = None
) -> TrainingRows:
    """Return the rows of a sample that were drawn.

    A classifier is shown reward r as class 1 with weight r and as class 0 with weight 1 - r; given
    an rng, each draw instead as one of the two, class 1 with probability r, so that weights are
    whole.
    """
    s = sample.positions.size
    targets, weights = _classes(sample, rng) if classifies else _rewards(sample)
    drawn = np.flatnonzero(weights > 0)
    contexts = sample.rows.contexts[sample.positions[drawn % s]]
    return TrainingRows(contexts, targets[drawn], weights[drawn], int(sample.counts.sum()))


def one_each(rows: TrainingRows) -> tuple[np.ndarray, np.ndarray]:
    """Return contexts and targets with each row as often as its weight says."""
    times = rows.weights.astype(np.int64)
    return np.repeat(rows.contexts, times, axis=0), np.repeat(rows.targets, times)


def repeated(rows: TrainingRows) -> TrainingRows:
    """Return the same sample with each row as often as its weight says, and weights of 1."""
    contexts, targets = one_each(rows)
    return TrainingRows(contexts, targets, np.ones(targets.size), rows.draws)


def _rewards(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and weights: observed rewards, then pseudo rewards 1, then 0."""
    s = sample.positions.size
    observed = sample.rows.rewards[sample.positions]
    targets = np.concatenate([observed, np.ones(s), np.zeros(s)])
    return targets, sample.counts.T.astype(np.float64).ravel()


def _classes(sample: Sample, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and weights: class 1, then class 0."""
    s = sample.positions.size
    observed, real = sample.rows.rewards[sample.positions], sample.counts[:, REAL]
    if rng is not None and not np.isin(observed, (0.0, 1.0)).all():
        real_ones = binomials(real, observed, rng)
    else:
        real_ones = real * observed
    ones = real_ones + sample.counts[:, ONE]
    weights = np.concatenate([ones, sample.counts.sum(axis=1) - ones]).astype(np.float64)
    return np.repeat(np.array([1, 0]), s), weights
