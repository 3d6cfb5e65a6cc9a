"""Rows of a data set as contexts, and their classes as arms."""

import os
import pickle
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from laws import assert_follows

from giro import BadFile, BadParameter, GiroError, Problem, UnknownName, simulate
from giro.datasets.dataset import SHAPES, load
from giro.problem import reveal, reward, start
from giro.problems import Classification
from giro.seeds import stream

THREE = Classification.from_arrays([[1.0], [2.0], [4.0]], ["b", "a", "c"], scale="none")


def visited(problem: Problem, rounds: int, seed: int, run: int = 0) -> list[float]:
    """Return the first feature of each row in the order of a run."""
    instance, rng = start(problem, stream(seed, run)), stream(seed, run, 1)
    return [float(reveal(instance, t, rng)[0].context[0]) for t in range(rounds)]


def test_every_row_is_visited_once_before_any_comes_again(seed: int) -> None:
    problem = Classification.from_arrays(np.arange(20.0)[:, None], [0, 1] * 10, scale="none")
    order = visited(problem, 60, seed)
    passes = [order[first : first + 20] for first in (0, 20, 40)]
    assert all(sorted(rows) == list(range(20)) for rows in passes)
    assert len({tuple(rows) for rows in passes}) == 3
    assert visited(problem, 20, seed, run=1) != passes[0]


@pytest.mark.parametrize("first", [0, 3])
def test_all_orders_of_the_rows_are_as_likely_in_each_pass(first: int, seed: int) -> None:
    orders = list(permutations((1.0, 2.0, 4.0)))
    drawn = [tuple(visited(THREE, first + 3, seed, run)[first:]) for run in range(3_000)]
    assert_follows([orders.index(order) for order in drawn], [1 / 6] * 6)


def test_the_arm_of_the_class_has_reward_1_and_the_others_0(seed: int) -> None:
    arm_of = {1.0: 1, 2.0: 0, 4.0: 2}  # classes in sorted order are a, b, c
    assert THREE.classes == ("a", "b", "c")
    instance, rng = start(THREE, stream(seed)), stream(seed, 1)
    for t in range(6):
        offer, means, highest = reveal(instance, t, rng)
        right = arm_of[float(offer.context[0])]
        assert (means.tolist(), highest) == (np.eye(3)[right].tolist(), 1.0)
        assert [reward(instance, means, arm, rng) for arm in range(3)] == means.tolist()


def test_graded_rewards_fall_with_the_distance_from_the_class(seed: int) -> None:
    rows, labels = [[0.0], [1.0], [2.0]], [10, 30, 20]  # places 0, 2, 1
    problem = Classification.from_arrays(rows, labels, scale="none", graded=True)
    wanted = {0.0: [1.0, 0.5, 0.0], 1.0: [0.0, 0.5, 1.0], 2.0: [0.5, 1.0, 0.5]}
    instance, rng = start(problem, stream(seed)), stream(seed, 1)
    for t in range(3):
        offer, means, highest = reveal(instance, t, rng)
        assert (means.tolist(), highest) == (wanted[float(offer.context[0])], 1.0)
        assert [reward(instance, means, arm, rng) for arm in range(3)] == means.tolist()


def test_regret_is_the_number_of_rows_classified_wrongly(seed: int) -> None:
    trace = simulate("ucb1", "classification:data=statlog", rounds=100, runs=3, seed=seed)
    assert (trace.regret + trace.reward == trace.checkpoints).all()
    assert (trace.best == trace.reward).all()


@pytest.mark.parametrize("name", ["statlog", "adult"])
def test_contexts_of_the_shipped_data_are_standardised(name: str) -> None:
    problem, dataset = Classification(name), load(name)
    assert problem.n_arms == SHAPES[name].classes == len(problem.classes)
    assert problem.n_features == SHAPES[name].features
    contexts = problem.rows.contexts
    wanted = (dataset.features - dataset.features.mean(axis=0)) / dataset.features.std(axis=0)
    assert np.allclose(contexts, wanted, rtol=1e-9, atol=1e-9)
    assert np.array_equal(problem.rows.labels, dataset.labels)


def test_all_runs_share_one_matrix_that_cannot_be_written_to(seed: int) -> None:
    first, second = (start(Classification("statlog"), stream(seed, run)) for run in range(2))
    assert first.contexts is second.contexts
    with pytest.raises(ValueError, match="read-only"):
        reveal(first, 0, stream(seed))[0].context[0] = 1.0


def test_scales_differ_and_stand_in_the_text() -> None:
    rows = [[1.0, 2.0], [3.0, 5.0]]
    problems = [
        Classification.from_arrays(rows, [0, 1], scale=scale)
        for scale in ("column", "unit", "range", "none")
    ]
    assert len({problem.rows.contexts.tobytes() for problem in problems}) == 4
    assert [problem.text.rpartition("=")[2] for problem in problems] == [
        "column",
        "unit",
        "range",
        "none",
    ]


def test_the_text_of_arrays_tells_other_rows_labels_and_names_apart() -> None:
    made = [
        Classification.from_arrays([[1.0], [2.0]], labels, scale="none").text
        for labels in ([0, 1], [1, 0], ["no", "yes"])
    ]
    again = Classification.from_arrays(np.array([[1], [2]]), [0, 1], scale="none")
    other = Classification.from_arrays([[1.0], [3.0]], [0, 1], scale="none")
    assert len({*made, other.text}) == 4
    assert again.text == made[0]
    assert again == Classification.from_arrays([[1.0], [2.0]], [0, 1], scale="none")
    assert again != other


def test_a_frame_is_no_name_of_data() -> None:
    frame: Any = pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    with pytest.raises(BadParameter, match=r"got a DataFrame: Classification\.from_arrays takes"):
        Classification(frame, label="y")


def test_a_pickled_problem_carries_its_rows_and_still_protects_them(tmp_path: Path) -> None:
    path = tmp_path / "flowers.parquet"
    pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}).write_parquet(path)
    kept = pickle.dumps(Classification(str(path), "y"))
    path.unlink()
    copy = pickle.loads(kept)
    assert copy.classes == ("a", "b")
    assert not start(copy, stream(0)).contexts.flags.writeable
    shipped = pickle.dumps(Classification("covertype"))
    assert len(shipped) < 1_000  # every worker has the file


@pytest.fixture
def flowers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of flowers, in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    table = {"colour": ["red", "blue", "red"], "width": [1, 2, 4], "species": ["a", "b", "a"]}
    pl.DataFrame(table).write_parquet("flowers.parquet")
    return tmp_path / "flowers.parquet"


def test_a_file_is_a_problem_whose_text_can_be_parsed(flowers: Path) -> None:
    problem = Classification("flowers.parquet", "species", "range")
    assert problem.text == "classification:data=flowers.parquet,label=species,scale=range"
    assert Problem.parse(problem.text) == problem
    assert (problem.n_arms, problem.n_features, problem.classes) == (2, 3, ("a", "b"))
    contexts = [[0, 0, 1], [1 / 3, 1, 0], [1, 0, 1]]  # width, blue, red
    assert problem.rows.contexts.tolist() == contexts


def test_a_graded_file_says_so_in_its_text(flowers: Path) -> None:
    problem = Classification("flowers.parquet", "width", graded=True)
    text = "classification:data=flowers.parquet,label=width,scale=column,graded=true"
    assert problem.text == text
    assert Problem.parse(text) == problem != Classification("flowers.parquet", "width")


def test_a_file_is_read_once_and_again_when_it_has_changed(flowers: Path) -> None:
    first, second = (Classification("flowers.parquet", "species") for _ in range(2))
    assert first.rows.contexts is second.rows.contexts
    pl.DataFrame({"width": [1, 2], "species": ["x", "y"]}).write_parquet(flowers)
    os.utime(flowers, ns=(1, 1))
    assert Classification("flowers.parquet", "species").classes == ("x", "y")
    assert first.classes == ("a", "b")


@pytest.mark.parametrize(
    ("text", "kind", "complaint"),
    [
        ("data=adlut", UnknownName, "no data set is called 'adlut'; did you mean 'adult'"),
        ("data=iris", UnknownName, "FILE.csv, FILE.parquet, adult, covertype, statlog"),
        ("scale=rows", BadParameter, "is one of column, unit, range, none; got 'rows'"),
        ("data=adult,label=income", BadParameter, "adult has its own classes"),
        ("data=flowers.parquet", BadParameter, "the column of classes in flowers.parquet: label="),
        ("data=flowers.parquet,label=kind", BadFile, "no column is called 'kind'"),
        ("data=none.csv,label=y", BadFile, "there is no file none.csv"),
        ("data=arrays-0123", BadParameter, "use Classification.from_arrays"),
        ("graded=true", BadParameter, "classes of statlog have no order"),
        ("data=flowers.parquet,label=species,graded=true", BadParameter, "are numbers, got 'a'"),
        ("rows=7", UnknownName, "no parameter of classification is called 'rows'"),
    ],
)
@pytest.mark.usefixtures("flowers")
def test_what_is_no_problem_is_refused(text: str, kind: type[GiroError], complaint: str) -> None:
    with pytest.raises(kind) as refusal:
        Problem.parse(f"classification:{text}")
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(("data", "label"), [("a,b.csv", "y"), ("a.csv", "[y"), ("a.csv", "none")])
def test_names_that_would_break_the_text_are_refused(data: str, label: str) -> None:
    with pytest.raises(BadParameter, match="cannot be part of the text of a problem"):
        Classification(data, label)


def test_an_unknown_scale_is_refused_from_python_too() -> None:
    with pytest.raises(BadParameter, match="column, unit, range, none, got scale='rows'"):
        Classification.from_arrays([[1.0]], [0], scale="rows")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="got nan in row 0, column 0"):
        Classification.from_arrays([[np.nan]], [0])
