"""The points of small pictures."""

import math
from typing import Any

from giro.service.dashboard.shapes import HEIGHT, WIDTH, bars, sparkline, whiskers


def test_a_sparkline_goes_from_edge_to_edge_and_leaves_gaps_out() -> None:
    points = [
        tuple(map(float, p.split(","))) for p in sparkline([5, 6, 9], [1, math.nan, 3]).split()
    ]
    assert [x for x, _ in points] == [0.0, WIDTH]
    assert points[0][1] > points[1][1]  # larger is higher


def test_a_line_without_change_is_in_the_middle() -> None:
    assert sparkline([0, 1], [2.0, 2.0]) == f"0.0,{HEIGHT / 2} 100.0,{HEIGHT / 2}"
    assert sparkline([0], [2.0]) == sparkline([], []) == ""


def test_bars_stand_where_their_time_is_and_the_largest_fills_the_height() -> None:
    left, right = bars([0, 8], [2, 10], [1, 4])
    assert (left.x, left.width, right.x, right.width) == (0.0, 20.0, 80.0, 20.0)
    assert (left.height, right.height) == (HEIGHT / 4, HEIGHT)
    assert all(bar.y + bar.height == HEIGHT for bar in (left, right))
    assert bars([0], [1], [0]) == bars([], [], []) == []


def test_intervals_of_all_rows_share_a_scale() -> None:
    rows: list[dict[str, Any]] = [
        {"mean": 0.5, "low": 0.0, "high": 1.0},
        {"mean": 0.75, "low": 0.5, "high": 1.0},
        {"mean": None, "low": None, "high": None},
    ]
    first, second, none = whiskers(rows)
    assert none is None
    assert first is not None
    assert second is not None
    assert first.mean == second.low
    assert first.high == second.high <= 100.0


def test_equal_rows_have_a_place_each() -> None:
    row: dict[str, Any] = {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert [w and w.mean for w in whiskers([row, dict(row)])] == [50.0, 50.0]
    assert whiskers([]) == []
