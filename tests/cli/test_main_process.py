"""The command line as a process: terminals, pipes, Ctrl-C, and what a start costs."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.terminal import on_terminal, read_until

from giro.simulation.kept import load_folder

GIRO = (sys.executable, "-m", "giro")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)  # before anything is written, however late that is
    done = subprocess.run(
        [*GIRO, "policies", "--json"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_terminal_that_knows_ascii_only_gets_question_marks() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    words = ["simulate", "ucb1", "--rounds", "10", "--runs", "2"]
    done = subprocess.run([*GIRO, *words], env=environment, capture_output=True, check=True)
    assert b"?95%" in done.stdout


@pytest.mark.parametrize(
    ("typed", "wanted"), [("giro sim", "simulate"), ("giro simulate --prob", "--problem")]
)
def test_the_shell_completes_commands_and_options(typed: str, wanted: str) -> None:
    last = str(len(typed.split()) - 1)
    asked = {"_GIRO_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": last}
    done = subprocess.run(GIRO, env=os.environ | asked, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [wanted]


def test_no_progress_is_shown_in_a_pipe() -> None:
    words = ["simulate", "ucb1", "--rounds", "10", "--runs", "2", "--json"]
    done = subprocess.run([*GIRO, *words], capture_output=True, check=True)
    assert done.stderr == b""
    assert len(json.loads(done.stdout)) == 1


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_prints_and_keeps_the_finished_runs(tmp_path: Path, as_json: bool) -> None:
    words = ["simulate", "ucb1", "greedy", "--rounds", "50000", "--runs", "1000000", "--jobs", "2"]
    words += ["--out", str(tmp_path), *(["--json"] if as_json else [])]
    with on_terminal([*GIRO, *words], stdout=subprocess.PIPE) as (process, terminal):
        read_until(terminal, rb"giro plays ucb1 .* [1-9][\d,]* of 2,000,000")
        process.send_signal(signal.SIGINT)
        said = rb"interrupted: [1-9][\d,]* of 2,000,000 runs finished, kept in"
        shown = read_until(terminal, said)
        assert process.stdout is not None
        out = process.stdout.read().decode()
    assert process.returncode == 130
    finished = int(re.findall(rb"interrupted: ([\d,]+) of", shown)[0].replace(b",", b""))
    (trace,) = load_folder(tmp_path)
    assert trace.runs.size == finished
    if as_json:
        assert [(r["policy"], r["runs"]) for r in json.loads(out)] == [("ucb1", finished)]
    else:
        assert re.search(rf"^ucb1 +{finished} ", out, re.MULTILINE)


WATCHED = """
import atexit, sys
from numba.core import event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
from giro.cli.main import main
heavy = ("sklearn", "matplotlib", "polars", "pandas", "cloudpickle", "dask")
atexit.register(lambda: print(len(compiled.buffer), *(m for m in heavy if m in sys.modules)))
main()
"""


def test_a_warm_start_compiles_nothing_and_imports_nothing_heavy(tmp_path: Path) -> None:
    words = ["simulate", "uniform", "--rounds", "100", "--runs", "2"]
    cold, warm = (
        subprocess.run(
            [sys.executable, "-c", WATCHED, *words],
            env=os.environ | {"GIRO_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-1]
        for _ in range(2)
    )
    assert int(cold) > 0
    assert warm == "0"
