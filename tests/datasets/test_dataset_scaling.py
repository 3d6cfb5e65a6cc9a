"""Features on a common scale, against numbers worked out by hand."""

import numpy as np
import pytest

from giro.datasets.dataset import contexts_of
from giro.seeds import stream

TABLE = np.array([[1.0, 5.0, -3.0], [3.0, 5.0, 0.0], [5.0, 5.0, 0.0]])


def test_columns_are_standardised_with_the_deviation_of_the_population() -> None:
    sd = np.sqrt(8 / 3)
    wanted = [[-2 / sd, 0, -np.sqrt(2)], [0, 0, np.sqrt(0.5)], [2 / sd, 0, np.sqrt(0.5)]]
    assert np.allclose(contexts_of(TABLE, "column"), wanted, rtol=1e-14)


def test_rows_of_unit_length_keep_their_directions() -> None:
    contexts = contexts_of(TABLE, "unit")
    assert np.allclose(np.linalg.norm(contexts, axis=1), 1.0)
    columns = contexts_of(TABLE, "column")
    lengths = np.linalg.norm(columns, axis=1)
    assert np.allclose(contexts * lengths[:, None], columns)


def test_ranges_are_mapped_to_zero_and_one() -> None:
    assert contexts_of(TABLE, "range").tolist() == [[0, 0, 0], [0.5, 0, 1], [1, 0, 1]]


def test_none_leaves_the_features_as_they_are() -> None:
    assert contexts_of(TABLE, "none").tolist() == TABLE.tolist()


def test_long_tables_of_any_order_in_memory_are_scaled_alike(seed: int) -> None:
    table = stream(seed).normal(3.0, 100.0, (10_000, 5))  # longer than a block of rows
    unit = (table - table.mean(axis=0)) / table.std(axis=0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for order in ("C", "F"):
        contexts = contexts_of(np.asarray(table, order=order), "unit")
        assert np.allclose(contexts, unit, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("scale", ["column", "unit", "range"])
def test_a_constant_column_becomes_zero_whatever_the_rounding(scale: str) -> None:
    table = np.column_stack([np.full(1_001, 0.1), np.full(1_001, 1e300), np.arange(1_001.0)])
    contexts = contexts_of(table, scale)  # type: ignore[arg-type]
    assert not contexts[:, :2].any()


def test_a_row_at_the_mean_has_no_direction_and_stays_zero() -> None:
    contexts = contexts_of(np.array([[0.0], [1.0], [2.0]]), "unit")
    assert contexts[:, 0].tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1.7e308])
def test_the_unit_of_a_column_does_not_matter_however_large_or_small(size: float) -> None:
    table = size * np.array([[-1.0], [1.0], [0.0], [0.0]])
    half = np.sqrt(0.5)
    assert np.allclose(contexts_of(table, "column")[:, 0], [-1 / half, 1 / half, 0, 0])
    assert np.allclose(contexts_of(table, "range")[:, 0], [0, 1, 0.5, 0.5])
