"""What happened, to Parquet and back."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from simulation.traces import small_trace

from giro import BadFile, BadParameter, Trace, simulate
from giro.simulation.trace import load_traces, merge, save_traces


def assert_same(first: Trace, second: Trace) -> None:
    assert first.setting == second.setting
    for field in dataclasses.fields(Trace)[1:]:
        assert np.array_equal(getattr(first, field.name), getattr(second, field.name)), field.name


def test_a_saved_trace_is_loaded_as_it_was(tmp_path: Path) -> None:
    trace = simulate("ucb1", "beta", rounds=300, runs=3, seed=5, points=20, spacing="log")
    trace.save(tmp_path / "new folder" / "trace.parquet")
    assert_same(Trace.load(tmp_path / "new folder" / "trace.parquet"), trace)


def test_a_trace_is_shown_in_one_line_without_its_arrays() -> None:
    trace = simulate("ucb1", "bernoulli:n_arms=2", rounds=20, runs=3)
    assert repr(trace) == (
        "Trace('ucb1', 'bernoulli:n_arms=2,low=0.25,high=0.75', rounds=20, runs=3)"
    )


def test_a_trace_of_one_run_and_one_round_is_loaded_as_it_was(tmp_path: Path) -> None:
    trace = simulate("ucb1", "bernoulli", rounds=1, runs=1)
    trace.save(tmp_path / "t.parquet")
    assert_same(Trace.load(tmp_path / "t.parquet"), trace)


def test_the_file_opens_in_pandas_and_polars_with_a_row_per_run_and_checkpoint(
    tmp_path: Path,
) -> None:
    small_trace().save(tmp_path / "t.parquet")
    expected = {"run": [0, 0, 1, 1], "round": [18, 20, 18, 20], "regret": [1.0, 2.0, 3.0, 6.0]}
    columns = list(expected)
    by_polars = pl.read_parquet(tmp_path / "t.parquet")[columns].to_dict(as_series=False)
    by_pandas = pd.read_parquet(tmp_path / "t.parquet")[columns].to_dict("list")
    assert by_polars == by_pandas == expected


def test_saving_leaves_no_other_file_behind(tmp_path: Path) -> None:
    small_trace().save(tmp_path / "t.parquet")
    small_trace().save(tmp_path / "t.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no file"):
        Trace.load(tmp_path / "nothing.parquet")


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(BadFile, match="cannot be read as Parquet"):
        Trace.load(tmp_path / "t.parquet")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile):
        Trace.load(tmp_path)


def test_parquet_of_somebody_else_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"run": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(BadFile, match="was not written by giro"):
        Trace.load(tmp_path / "t.parquet")


def test_a_file_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    simulate("ucb1", "bernoulli", rounds=500, runs=5).save(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        (tmp_path / "t.parquet").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(BadFile):
            Trace.load(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    "metadata",
    [
        {"giro-trace": "0"},
        {"giro-trace": "2"},
        {"giro-trace": "1"},
    ],
)
def test_a_file_that_does_not_say_how_it_was_made_is_refused(
    tmp_path: Path, metadata: dict[str, str]
) -> None:
    small_trace().table().write_parquet(tmp_path / "t.parquet", metadata=metadata)
    with pytest.raises(BadFile):
        Trace.load(tmp_path / "t.parquet")


def test_rows_that_are_missing_are_noticed(tmp_path: Path) -> None:
    small_trace().save(tmp_path / "t.parquet")
    whole = pl.read_parquet(tmp_path / "t.parquet")
    whole.head(3).write_parquet(tmp_path / "t.parquet", metadata={"giro-trace": "2"})
    with pytest.raises(BadFile, match="damaged"):
        Trace.load(tmp_path / "t.parquet")


def test_a_file_holds_the_traces_of_many_settings_in_their_order(tmp_path: Path) -> None:
    traces = [
        simulate("ucb1", "bernoulli:means=[0.7,0.4]", rounds=30, runs=2),
        simulate("greedy", "bernoulli", rounds=20, runs=3, seed=9),  # more arms, other points
        small_trace(policy="greedy"),
    ]
    save_traces(traces, tmp_path / "t.parquet")
    for first, second in zip(load_traces(tmp_path / "t.parquet"), traces, strict=True):
        assert_same(first, second)
    with pytest.raises(BadFile, match="holds 3 traces"):
        Trace.load(tmp_path / "t.parquet")


def test_merging_keeps_every_run_once_and_in_order() -> None:
    first = small_trace([[1, 2], [3, 4]], runs=[4, 2])
    second = small_trace([[9, 9], [5, 6]], runs=[2, 0])
    whole = merge([first, second])
    assert whole.runs.tolist() == [0, 2, 4]
    assert whole.regret.tolist() == [[5, 6], [3, 4], [1, 2]]


def test_only_traces_of_one_setting_are_merged() -> None:
    with pytest.raises(BadParameter, match="one setting"):
        merge([small_trace(), small_trace(seed=2)])
    with pytest.raises(BadParameter, match="no trace"):
        merge([])


def test_only_the_first_runs_are_kept() -> None:
    assert small_trace(runs=[0, 5]).only(5).runs.tolist() == [0]


def test_simulating_does_not_import_what_only_files_and_plots_need() -> None:
    source = """
import sys, giro
giro.simulate("ucb1", "bernoulli", rounds=10, runs=2)
print([name for name in ("polars", "pandas", "matplotlib", "sklearn", "scipy.stats")
       if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_traces_are_drawn_together() -> None:
    first, other = small_trace(), small_trace([[2.0, 8.0], [2.0, 4.0]], policy="giro:a=1")
    (panel,) = first.plot(other).axes
    assert [np.asarray(line.get_ydata()).tolist() for line in panel.lines] == [
        [2.0, 4.0],
        [2.0, 6.0],
    ]
    assert len(first.plot().axes[0].lines) == 1
