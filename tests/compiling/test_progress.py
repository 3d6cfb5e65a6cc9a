"""The line that tells of compiling: on a terminal, and only there."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
import time

import pytest
from cli.terminal import HANGS, read_until

from giro.compiling import kernel, progress

# a kernel whose compilation ends when its line was seen, or after a while where there is none
COMPILE = """
import sys, time
from giro.compiling import compilers, kernel, progress
progress.AFTER = 0.0
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
    terminal, other_end = pty.openpty()
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", COMPILE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=other_end, env=environment
    ) as process:
        os.close(other_end)
        shown = read_until(terminal, TEXT + rb".*\r.*" + TEXT)
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        shown += read_until(terminal, rb"compiled\r\n")
    os.close(terminal)
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


def looked_at(monkeypatch: pytest.MonkeyPatch, *, after: float = 0.0) -> Terminal:
    """Return a terminal in place of standard error; not as a fixture, whose pytest would undo."""
    output = Terminal()
    monkeypatch.setattr(sys, "stderr", output)
    monkeypatch.setattr(progress, "AFTER", after)
    return output


def wait_for(output: Terminal, text: str) -> None:
    ends = time.monotonic() + HANGS
    while text not in output.getvalue():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_several_at_once_have_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    before = threading.active_count()
    with progress.shown():
        wait_for(terminal, "giro compiles")
        with progress.shown(), progress.shown():
            assert threading.active_count() == before + 1
        assert not re.search(r"\r +\r", terminal.getvalue())
    assert re.search(r"\r +\r$", terminal.getvalue())
    assert threading.active_count() == before


def test_what_compiles_quickly_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch, after=3600.0)
    with progress.shown():
        assert kernel(lambda x: x + 2)(1) == 3
    assert terminal.getvalue() == ""


def test_nothing_is_shown_beside_another_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    with progress.hidden(), progress.shown():
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_a_terminal_that_knows_ascii_only_has_a_plain_spinner() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), "ascii")
    assert progress._pictures(ascii_only).isascii()
    assert not progress._pictures(io.TextIOWrapper(io.BytesIO(), "utf-8")).isascii()


def test_who_closes_the_output_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    with progress.shown():
        wait_for(terminal, "giro compiles")
        terminal.close()


def test_notebooks_are_looked_at() -> None:
    output = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    assert progress._is_seen(output)
    assert not progress._is_seen(io.StringIO())
    assert not progress._is_seen(None)
