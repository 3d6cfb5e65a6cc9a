"""The bake-off's verdicts, from scores made by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from giro.paper.studies._bakeoff_sets import BakeoffSet
from giro.paper.studies.bakeoff import (
    DEFAULT,
    GIRO,
    Scores,
    difference,
    ranking_of,
    scores_of,
    verdicts_of,
)

OURS, RIVAL = (GIRO, DEFAULT), ("VW", "--bag 5")


def a_set(name: str, rounds: int = 100) -> BakeoffSet:
    return BakeoffSet(name, "judging", 5_000, rounds, f"classification:data={name}")


def scores(**rewards: dict[tuple[str, str], list[float]]) -> Scores:
    """Return scores by set and entrant, one reward an order."""
    found = Scores({}, {})
    for name, by_entrant in rewards.items():
        for entrant, values in by_entrant.items():
            for order, value in enumerate(values):
                found.add(entrant, name, order, value, 1e-6)
    return found


def test_ranks_are_among_those_who_played_a_set_and_equal_ones_share_theirs() -> None:
    third = (GIRO, "uniform")
    found = scores(
        a={OURS: [0.9], RIVAL: [0.8], third: [0.8]},
        b={OURS: [0.5], RIVAL: [0.6], third: [0.1]},
        c={OURS: [0.5], RIVAL: [0.4]},
    )
    ranking = ranking_of(found, [a_set(name) for name in "abc"])
    assert [(line["policy"], line["mean_rank"], line["sets"]) for line in ranking] == [
        (DEFAULT, pytest.approx((1 + 2 + 1) / 3), 3),
        (RIVAL[1], pytest.approx((2.5 + 1 + 2) / 3), 3),
        ("uniform", pytest.approx((2.5 + 3) / 2), 2),
    ]


def test_who_played_half_of_the_sets_or_less_is_not_ranked() -> None:
    found = scores(a={OURS: [0.9], RIVAL: [0.8]}, b={OURS: [0.5]})
    assert [line["policy"] for line in ranking_of(found, [a_set("a"), a_set("b")])] == [DEFAULT]


def test_differences_are_paired_by_the_order_of_rows() -> None:
    ours, theirs = [0.91, 0.85, 0.88], [0.90, 0.83, 0.86, 0.2]
    gain, p = difference(scores(a={OURS: ours, RIVAL: theirs}), RIVAL, "a")
    assert gain == pytest.approx(np.mean(ours) - np.mean(theirs[:3]))
    assert p == pytest.approx(stats.ttest_rel(ours, theirs[:3]).pvalue)


def test_one_order_and_no_difference_decide_nothing() -> None:
    assert difference(scores(a={OURS: [0.9], RIVAL: [0.1]}), RIVAL, "a")[1] == 1.0
    assert difference(scores(a={OURS: [0.9, 0.8], RIVAL: [0.9, 0.8]}), RIVAL, "a") == (0.0, 1.0)
    assert difference(scores(a={OURS: [0.9, 0.8]}), RIVAL, "a") == (0.0, 1.0)


@pytest.mark.parametrize(("lost", "holds"), [(1, True), (2, False)])
def test_two_wins_are_needed_for_every_loss(lost: int, holds: bool) -> None:
    better, worse = [0.9, 0.901, 0.899], [0.8, 0.802, 0.801]
    sets = [a_set(name) for name in "abcd"]
    found = scores(
        **{
            each.name: {OURS: worse, RIVAL: better} if i < lost else {OURS: better, RIVAL: worse}
            for i, each in enumerate(sets)
        }
    )
    first, second = verdicts_of(found, ranking_of(found, sets), sets)
    assert second.holds is holds
    assert f"{4 - lost} to {lost}" in second.figures
    assert first.holds is (lost < 2)


def test_lines_of_other_libraries_count_if_they_saw_every_row(tmp_path: Path) -> None:
    file = tmp_path / "field.csv"
    file.write_text(
        "# a command\n"
        "library,policy,data,order,rounds,mean_reward,seconds,made_with\n"
        "VW,--bag 5,a,0,100,0.5,0.2,vw\n"
        "VW,--bag 5,a,1,60,0.9,0.2,vw\n"  # it ran out of time
        "giro,giro-ensemble,a,0,100,0.7,0.2,giro\n"  # kept runs say more
        "VW,--bag 5,unknown,0,100,0.5,0.2,vw\n"
    )
    problem = "classification:data=statlog,scale=column"
    each = BakeoffSet("a", "judging", 5_000, 100, problem)
    found = scores_of([each], [], file)
    assert found.rewards == {(RIVAL, "a"): {0: 0.5}}
    assert found.seconds[RIVAL, "a"] == [pytest.approx(0.002)]
    assert scores_of([each], [], tmp_path / "nothing.csv").rewards == {}
