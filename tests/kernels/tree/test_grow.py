"""Bins of contexts, in which trees find their splits."""

import numpy as np

from giro.kernels.tree.grow import MOST, Bins, empty_bins, put_again, take_in
from giro.seeds import stream


def taken_in(contexts: np.ndarray) -> Bins:
    bins = empty_bins(contexts.shape[1], len(contexts))
    for count in (1, len(contexts) // 3, len(contexts)):
        take_in(bins, contexts, count)
    return bins


def test_few_values_are_bins_of_their_own(seed: int) -> None:
    contexts = stream(seed).integers(0, MOST, size=(2000, 2)).astype(float)
    bins = taken_in(contexts)
    for j in range(2):
        values, codes = np.unique(contexts[:, j], return_inverse=True)
        assert bins.used[j] == values.size
        assert bins.low[j, : values.size].tolist() == values.tolist()
        assert bins.high[j, : values.size].tolist() == values.tolist()
        assert bins.of_row[:, j].tolist() == codes.tolist()


def test_many_values_share_bins_evenly_and_in_order(seed: int) -> None:
    contexts = stream(seed).standard_cauchy((2048, 1))
    bins = taken_in(contexts)
    codes, used = bins.of_row[:, 0], bins.used[0]
    assert used <= MOST
    assert (bins.low[0, :used] <= bins.high[0, :used]).all()
    assert (bins.high[0, : used - 1] < bins.low[0, 1:used]).all()
    inside = (bins.low[0, codes] <= contexts[:, 0]) & (contexts[:, 0] <= bins.high[0, codes])
    assert inside.all()
    assert np.bincount(codes).max() <= 2 * 2048 / MOST


def test_a_row_that_takes_the_place_of_another_gets_its_own_bins(seed: int) -> None:
    rng = stream(seed)
    contexts = rng.integers(0, 40, size=(300, 2)).astype(float)
    bins = taken_in(contexts)
    for row in rng.permutation(300)[:100]:
        contexts[row] = rng.integers(-20, 60, size=2)  # some values are new
        put_again(bins, contexts, row)
    for j in range(2):
        codes = bins.of_row[:, j]
        assert bins.low[j, codes].tolist() == contexts[:, j].tolist()
        assert bins.high[j, codes].tolist() == contexts[:, j].tolist()
