"""The table of the field goes on where it stopped, and is not replaced by a trial."""

from pathlib import Path

import field
import pytest

from giro.paper.studies._bakeoff_sets import paper_sets
from giro.problems import Classification

STATLOG, COVERTYPE, _ = paper_sets()
CELL = field.Cell(field.ENTRANTS[-1], COVERTYPE, 1)
ROUNDS = COVERTYPE.rounds


def _line(path: Path) -> dict[str, str]:
    (line,) = field._read(path)
    return line


def test_a_line_is_settled_if_all_its_rounds_were_played_by_the_same_code(tmp_path: Path) -> None:
    path = tmp_path / "field.csv"
    assert not field._is_settled(CELL, field._read(path))
    field._append(path, CELL, field.Outcome(ROUNDS, 0.5, 3.0))
    assert field._is_settled(CELL, [_line(path)])
    assert not field._is_settled(CELL._replace(order=2), [_line(path)])
    assert not field._is_settled(CELL, [_line(path) | {"made_with": "other code"}])
    assert not field._is_settled(CELL, [_line(path) | {"rounds": "100"}])


def test_what_took_too_long_once_is_not_tried_in_other_orders(tmp_path: Path) -> None:
    path = tmp_path / "field.csv"
    field._append(path, CELL, field.Outcome(1_000, 0.5, 600.5))
    assert field._is_settled(CELL._replace(order=2), field._read(path))


def test_a_line_takes_the_place_of_its_elder_and_all_stand_in_order(tmp_path: Path) -> None:
    path = tmp_path / "field.csv"
    first = field.Cell(field.ENTRANTS[0], STATLOG, 0)
    gone = CELL._replace(entrant=CELL.entrant._replace(policy="no longer competing"))
    for cell, reward in ((CELL, 0.5), (gone, 0.1), (first, 0.6), (CELL, 0.7)):
        field._append(path, cell, field.Outcome(ROUNDS, reward, 1.0))
    assert [line["mean_reward"] for line in field._read(path)] == ["0.6", "0.7"]


def test_the_file_says_how_it_is_made_from_its_first_line_on(tmp_path: Path) -> None:
    path = tmp_path / "field.csv"
    field._append(path, CELL, field.Outcome(ROUNDS, 0.5, 1.0))
    assert path.read_text().startswith("# python benchmarks/field.py (giro ")


def test_graded_rewards_reach_the_others() -> None:
    graded = Classification.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 2], graded=True)
    contexts, rewards = field.rows_in_order(graded, rounds=3, seed=0, run=0)
    assert sorted(rewards.tolist()) == [[0.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 0.0]]
    assert (rewards.argmax(axis=1) == contexts[:, 0].argsort().argsort()).all()


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ((), field.RESULTS),
        (("--rounds", "100"), field.ROOT / ".benchmarks" / "field" / "100.csv"),
        (("--rounds", "100", "--out", "mine.csv"), Path("mine.csv")),
    ],
)
def test_a_trial_goes_elsewhere(
    words: tuple[str, ...], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["field.py", *words])
    assert field._options().out == out
