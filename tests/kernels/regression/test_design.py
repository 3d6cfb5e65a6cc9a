"""Rows of a regression: contexts, features of arms, and the constant that only policies add."""

import numpy as np

from giro.kernels.regression.design import (
    case_row,
    design_of,
    mark_untried,
    model_of,
    put_arm,
    round_row,
)
from giro.offer import NO_CONTEXT, Case, Offer, Shape, case_of, offer_of, position_of


def test_a_context_stands_for_itself_and_the_constant_comes_last() -> None:
    design, offer = design_of(Shape(3, 2, 0, 1, 1)), offer_of(3, np.array([0.5, 2.0]))
    row = round_row(design, offer.context)
    assert [put_arm(design, offer, i) for i in range(3)] == [0, 1, 2]  # a model for each arm
    assert row.tolist() == [0.5, 2.0, 1.0]
    assert case_row(design, Case(np.array([3.0, 4.0]), NO_CONTEXT)).tolist() == [3.0, 4.0, 1.0]
    assert model_of(design, 2) == 2


def test_no_context_is_the_constant_one() -> None:
    design = design_of(Shape(3, 0, 0, 1, 1))
    assert round_row(design, NO_CONTEXT).tolist() == [1.0]
    assert case_row(design, Case(NO_CONTEXT, NO_CONTEXT)).tolist() == [1.0]


def test_features_of_an_arm_come_between_and_all_arms_share_a_model() -> None:
    design = design_of(Shape(9, 1, 2, 1, 1))
    offer = Offer(np.array([2, 7]), np.array([0.5]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    row = round_row(design, offer.context)
    rows = []
    for place in range(2):
        assert put_arm(design, offer, place) == 0
        rows.append(row.tolist())
    assert rows == [[0.5, 3.0, 4.0, 1.5, 2.0, 1.0], [0.5, 5.0, 6.0, 2.5, 3.0, 1.0]]
    assert case_row(design, case_of(offer, 0)).tolist() == rows[0]
    assert model_of(design, 7) == 0


def test_products_are_those_asked_for_or_all_that_are_not_too_many() -> None:
    alone, products = [[0, 1, -1, -1], [-1, -1, 0, 1]], [[0, 0, 1, 1], [0, 1, 0, 1]]
    usual = np.hstack([alone, products, [[-1], [-1]]])
    assert Shape(9, 2, 2, 1, 1).columns.tolist() == usual.tolist()
    assert Shape(9, 20, 25, 1, 1).width == 20 + 25 + 500 + 1
    assert Shape(9, 20, 26, 1, 1).width == 20 + 26 + 1
    assert Shape(9, 3, 0, 1, 1).width == Shape(9, 0, 3, 1, 1).width == 4
    some = Shape(9, 2, 2, 1, 1, layout=((0, -1), (1, -1), (-1, 0), (-1, 1), (1, 0), (-1, -1)))
    offer = Offer(np.array([4]), np.array([2.0, 3.0]), np.array([[5.0, 7.0]]))
    assert case_row(design_of(some), case_of(offer, 0)).tolist() == [2.0, 3.0, 5.0, 7.0, 15.0, 1.0]


def test_columns_stand_in_the_order_of_the_layout() -> None:
    """As after growth: the constant is where it was, and what came later stands behind it."""
    grown = Shape(9, 2, 1, 1, 1, layout=((0, -1), (-1, -1), (1, -1), (1, 0), (-1, 0)))
    offer = Offer(np.array([4]), np.array([2.0, 3.0]), np.array([[5.0]]))
    wanted = [2.0, 1.0, 3.0, 15.0, 5.0]
    assert case_row(design_of(grown), case_of(offer, 0)).tolist() == wanted
    row = round_row(design_of(grown), offer.context)
    assert row[[0, 1, 2]].tolist() == [2.0, 1.0, 3.0]
    assert grown.width == 5
    bare = Shape(9, 0, 0, 1, 1, layout=((-1, -1),))
    assert bare.contextual  # though nothing is known yet
    assert not Shape(9, 0, 0, 1, 1).contextual
    assert case_row(design_of(bare), Case(NO_CONTEXT, NO_CONTEXT)).tolist() == [1.0]


def test_arms_whose_model_has_no_reward_are_marked() -> None:
    alone, shared = design_of(Shape(3, 0, 0, 1, 1)), design_of(Shape(3, 0, 1, 1, 1))
    pulls, arms, values = np.array([4, 0, 1]), np.array([1, 2]), np.zeros(2)
    assert mark_untried(pulls, alone, arms, values)
    assert values.tolist() == [np.inf, 0.0]
    assert not mark_untried(pulls, alone, arms[1:], np.zeros(1))
    assert not mark_untried(np.array([3]), shared, arms, np.zeros(2))
    assert mark_untried(np.array([0]), shared, arms, values)
    assert values.tolist() == [np.inf, np.inf]


def test_an_arm_has_its_place_on_offer_or_none() -> None:
    offer = Offer(np.array([0, 1, 4, 9]), NO_CONTEXT, np.empty((0, 0)))
    places = {arm: position_of(offer, arm) for arm in (-1, 0, 1, 2, 4, 9, 10)}
    assert places == {-1: -1, 0: 0, 1: 1, 2: -1, 4: 2, 9: 3, 10: -1}
    assert [position_of(offer_of(3), arm) for arm in (-3, 0, 2, 3)] == [-1, 0, 2, -1]
    assert case_of(offer, 2).features.size == 0
