"""The line that tells of what takes long: on a terminal, and only there."""

import io
import os
import re
import subprocess
import sys
import threading
import time

import pytest
from cli.terminal import HANGS, on_terminal, read_until

from giro import Bandit, evaluate, simulate
from giro import progress as module
from giro.compiling import kernel
from giro.progress import Line, Task, is_looked_at

# a kernel whose compilation ends when its line was seen, or after a while where there is none
COMPILE = """
import sys, time
import giro.progress
from giro.compiling import compilers, kernel
giro.progress.AFTER = 0.0
compile_extra = compilers.OuterCompiler.compile_extra
def slowly(self, function):
    sys.stdin.readline()
    return compile_extra(self, function)
compilers.OuterCompiler.compile_extra = slowly
assert kernel(lambda x: x + 1)(1) == 2
print("compiled", file=sys.stderr)
"""
TEXT = rb"giro compiles what is used for the first time: \d+ s"


def test_a_terminal_shows_a_line_that_is_gone_in_the_end() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", COMPILE]
    with on_terminal(command, stdin=subprocess.PIPE, env=environment) as (process, terminal):
        shown = read_until(terminal, TEXT + rb".*\r.*" + TEXT)
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        shown += read_until(terminal, rb"compiled\r\n")
    *_, wiped, rest = re.split(rb"\r(?!\n)", shown)
    assert re.fullmatch(rb" +", wiped)
    assert rest == b"compiled\r\n"
    lines = re.split(rb"\r(?!\n)", shown)[1:-2]
    assert all(re.fullmatch(rb"\S+ " + TEXT, line) for line in lines)


def test_a_pipe_gets_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], input=b"\n", capture_output=True, check=True
    )
    assert done.stderr == b"compiled\n"


class Terminal(io.StringIO):
    """An output at which somebody looks."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Seconds that pass only when told."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def looked_at(monkeypatch: pytest.MonkeyPatch, *, after: float = 0.0) -> Terminal:
    """Return a terminal in place of standard error; not as a fixture, whose pytest would undo."""
    output = Terminal()
    monkeypatch.setattr(sys, "stderr", output)
    monkeypatch.setattr(module, "AFTER", after)
    return output


def wait_for(output: Terminal, text: str) -> None:
    ends = time.monotonic() + HANGS
    while text not in output.getvalue():
        assert time.monotonic() < ends
        time.sleep(0.01)


# -- the line, by a clock that is moved by hand --------------------------------------------------


def test_nothing_is_shown_of_what_takes_less_than_two_seconds(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch, after=2.0)
    line = Line(clock)
    with line.shown("giro waits"):
        clock.now += 1.9
        assert line.text() == ""
        clock.now += 0.1
        assert line.text() == "giro waits: 2 s"
    assert line.text() == ""


def test_a_bar_tells_how_much_is_done_and_how_long_it_still_takes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch, after=2.0)
    line = Line(clock)
    with line.shown("giro counts", 4_000) as task:
        task.advance(1_000)  # of these nobody knows how long they took: they may have been there
        clock.now += 2.0
        assert line.text() == "giro counts ━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 1,000 of 4,000, 2 s"
        clock.now += 10.0
        task.advance(1_000)
        assert line.text() == (
            "giro counts ━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌ 2,000 of 4,000, 12 s, about 20 s left"
        )
        assert line.text(plain=True).isascii()
        task.advance(3_000)
        assert "4,000 of 4,000" in line.text()


def test_of_several_the_last_that_takes_long_is_shown(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch, after=2.0)
    line = Line(clock)
    with line.shown("outside"):
        clock.now += 5.0
        with line.shown("inside"):
            assert line.text() == "outside: 5 s"
            clock.now += 3.0
            assert line.text() == "inside: 3 s"
        assert line.text() == "outside: 8 s"


def test_what_is_inside_of_something_quiet_is_quiet(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch)
    line = Line(clock)
    with line.shown("outside", wanted=False), line.shown("inside"):
        assert line.text() == ""
    with line.shown("later"):
        assert line.text() == "later: 0 s"


def test_a_narrow_terminal_cuts_the_description_and_not_the_numbers(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at(monkeypatch)
    line = Line(clock)
    with line.shown("giro plays " + "x" * 200 + "\n\x1b[2J", 7):
        text = line.text(60)
        assert len(text) == 60
        assert text.endswith("0 of 7, 0 s")
        assert line.text(1_000).isprintable()


def test_durations_are_in_units_that_people_read() -> None:
    task = Task("", 10_000, 0.0)
    task.seconds_left(0.0)
    task.advance(1)
    assert task.seconds_left(1.0) == 9_999.0
    assert [module._duration(s) for s in (0.4, 119.0, 180.0, 9_000.0)] == [
        *("0 s", "119 s", "3 min", "2.5 h"),
    ]


# -- the thread that draws it --------------------------------------------------------------------


def test_several_at_once_have_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    before = threading.active_count()
    with module.shown("giro waits"):
        wait_for(terminal, "giro waits")
        with module.shown("inside"), module.shown("further inside"):
            assert threading.active_count() == before + 1
        assert not re.search(r"\r +\r", terminal.getvalue())
    assert re.search(r"\r +\r$", terminal.getvalue())
    assert threading.active_count() == before


def test_what_compiles_quickly_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch, after=3600.0)
    assert kernel(lambda x: x + 2)(1) == 3
    assert terminal.getvalue() == ""


def test_a_terminal_that_knows_ascii_only_gets_nothing_else() -> None:
    assert not module._writes("━", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert module._writes("━", io.TextIOWrapper(io.BytesIO(), "utf-8"))


def test_who_closes_the_output_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    with module.shown("giro waits"):
        wait_for(terminal, "giro waits")
        terminal.close()


def test_notebooks_are_looked_at() -> None:
    output = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    assert is_looked_at(output)
    assert not is_looked_at(io.StringIO())
    assert not is_looked_at(None)


# -- what shows it -------------------------------------------------------------------------------

LOG = {"arm": ["a", "b"] * 20, "reward": [1.0, 0.0] * 20, "probability": [0.5] * 40}


def everything_long(bandit: Bandit, progress: bool) -> None:
    """Call all that may take long."""
    simulate("uniform", "bernoulli", rounds=5, runs=3, progress=progress)
    evaluate(LOG, "uniform", estimators=("dr", "replay"), progress=progress)
    Bandit.replay(bandit.events(), progress=progress)


def test_all_that_may_take_long_counts_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at(monkeypatch, after=3600.0)
    tasks, begin = list[Task](), Line._begin

    def noted(self: Line, task: Task, output: object) -> None:
        tasks.append(task)
        begin(self, task, output)

    monkeypatch.setattr(Line, "_begin", noted)
    bandit = Bandit(["a", "b"], "uniform")
    bandit.reward(bandit.decide().id, 1.0)
    tasks.clear()
    everything_long(bandit, progress=True)
    done = {task.doing: (task.done, task.total) for task in tasks}
    assert done["giro plays uniform"] == (3, 3)
    assert done["giro evaluates a policy"] == (0, None)
    assert done["giro leads uniform through the log"] == (40, 40)
    assert done["giro predicts the rewards of the log"] == (40, 40)
    assert done["giro plays uniform on the log"] == (40, 40)
    assert done["giro replays a log"] == (6, 6)
    assert done["giro reads the log of a bandit"] == (6, 6)
    tasks.clear()
    everything_long(bandit, progress=False)
    assert tasks == []
