"""Offers: where an arm stands, what is known of it, and sparse features."""

import numpy as np
import pytest
from live_kernels import law, learn_one, position_chosen

from giro import Policy
from giro.compiling import plain
from giro.compiling.held import hold
from giro.offer import (
    NO_CONTEXT,
    NO_FEATURES,
    Offer,
    Shape,
    SparseRows,
    case_of,
    of_arms,
    offer_of,
    position_of,
    rows_at,
)
from giro.policy import start
from giro.seeds import stream
from giro.standardising import NO_MOMENTS


@pytest.mark.parametrize("form", [position_of, plain(position_of)], ids=["compiled", "plain"])
def test_an_arm_is_found_where_it_stands_among_those_on_offer(form) -> None:
    some = Offer(np.array([0, 2, 5]), NO_CONTEXT, NO_FEATURES)
    assert [form(some, arm) for arm in range(-1, 8)] == [-1, 0, -1, 1, -1, -1, 2, -1, -1]
    assert [form(offer_of(3), arm) for arm in (-1, 0, 1, 2, 3)] == [-1, 0, 1, 2, -1]


def test_a_case_is_what_was_known_of_one_arm() -> None:
    offer = Offer(np.array([1, 4]), np.array([7.0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    case = case_of(offer, 1)
    assert (case.context.tolist(), case.features.tolist()) == ([7.0], [3.0, 4.0])
    assert case_of(offer_of(2, np.array([7.0])), 1).features.size == 0


def test_values_of_arms_are_taken_in_their_order() -> None:
    values = np.array([5.0, 6.0, 7.0])
    assert of_arms(values, np.array([0, 2])).tolist() == [5.0, 7.0]
    assert of_arms(values, np.arange(3)).tolist() == values.tolist()
    assert of_arms(np.empty(0), np.array([0, 2])).size == 0


def sparse(features: np.ndarray) -> SparseRows:
    rows, columns = np.nonzero(features)
    begin = np.searchsorted(rows, np.arange(features.shape[0] + 1))
    return SparseRows(begin, columns, features[rows, columns])


@pytest.mark.parametrize("text", ["lin-ucb:scale=1"])
def test_sparse_features_are_chosen_and_learned_like_dense_ones(text: str, seed: int) -> None:
    shape = Shape(3, 2, 4, 64, 64)
    rng = stream(seed, 5)
    states = [start(Policy.parse(text), shape, stream(seed)) for _ in range(2)]
    helds = [hold(state, NO_MOMENTS, stream(seed, 6), stream(seed, 7)) for state in states]
    for _ in range(60):
        features = rng.random((3, 4)) * (rng.random((3, 4)) < 0.5)
        context, reward = rng.random(2), float(rng.random() < 0.5)
        chosen, laws = [], []
        for held, form in zip(helds, (features, sparse(features)), strict=True):
            offer = Offer(np.arange(3), context, form)
            chosen.append(position_chosen(held, offer))
            laws.append(law(held, offer))
            learn_one(held, case_of(offer, chosen[-1]), chosen[-1], reward)
        assert chosen[0] == chosen[1]
        np.testing.assert_array_equal(laws[0], laws[1])


def test_sparse_rows_of_some_arms_are_those_of_each_of_them() -> None:
    begin = np.array([0, 2, 2, 5, 6])
    rows = SparseRows(begin, np.arange(10, 16), np.arange(6) / 7)
    for positions in ([2, 0], [1], [3, 1, 2], []):
        some = rows_at(rows, np.array(positions, np.int64))
        for i, position in enumerate(positions):
            part, whole = slice(*some.begin[i : i + 2]), slice(*begin[position : position + 2])
            assert some.column[part].tolist() == rows.column[whole].tolist()
            assert some.value[part].tolist() == rows.value[whole].tolist()
        assert some.begin[-1] == some.column.size == some.value.size
