"""The programs of examples/ run, and show what they are there to show."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from servers import free_port

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed_by(name: str, *words: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_knowing_the_readers_brings_more_clicks_on_the_news(tmp_path: Path) -> None:
    out = printed_by("news.py", "--visitors", "3000", "--out", str(tmp_path / "news.png"))
    rows = re.findall(r"^(\S.*?) +3000 +\d+ +(0\.\d+) +(0\.\d+)$", out, re.MULTILINE)
    rate = {name: float(value) for name, value, _ in rows}
    margin = max(float(margin) for *_, margin in rows)
    assert rate["giro-ensemble"] > max(rate["readers ignored"], rate["newest first"]) + 3 * margin
    assert (tmp_path / "news.png").stat().st_size > 10_000


def test_exploration_sells_more_than_the_same_pipeline_without() -> None:
    out = printed_by("pipeline.py", "--guests", "100", "--days", "2")
    sold = dict(re.findall(r"^(\w+) +sold to (0\.\d+)", out, re.MULTILINE))
    assert float(sold["giro"]) > float(sold["greedy"])


def test_the_five_lines_are_five() -> None:
    text = (EXAMPLES / "pipeline.py").read_text("utf-8")
    assert len(re.findall(r"^    \S", text.split('"""')[1], re.MULTILINE)) == 5


def test_in_the_shop_the_best_page_wins_and_the_dashboard_shows_it() -> None:
    ports = [str(free_port()) for _ in range(3)]
    program = [sys.executable, "-W", "error", str(EXAMPLES / "shop" / "run.py")]
    with in_a_group(*program, "--pace", "1000", "--ports", *ports) as shop:
        dashboard = next(line.split()[1] for line in shop.lines if line.startswith("dashboard"))
        for line, _ in zip(shop.lines, range(50), strict=False):  # after 200 visits each
            share = re.search(r"free delivery (\d+)%", line)
            if share and int(share[1]) > 60 and leader(dashboard) == "free delivery":
                break
        else:
            pytest.fail("it has not won in 10,000 visits")
        os.killpg(shop.process.pid, signal.SIGINT)  # as Ctrl+C does
        assert shop.process.wait() == 0
        with pytest.raises(ProcessLookupError):  # nothing is left
            os.killpg(shop.process.pid, 0)


def leader(dashboard: str) -> str | None:
    """Return the arm with a badge on the page of a bandit."""
    page = httpx.get(dashboard).raise_for_status().text
    row = re.search(r'<tr class="best">.*?title="(.*?)".*?</tr>', page, re.DOTALL)
    return row and row[1]


class Group(NamedTuple):
    """A program with all that it starts."""

    process: subprocess.Popen[str]
    lines: Iterator[str]  # that it prints


@contextlib.contextmanager
def in_a_group(*command: str) -> Iterator[Group]:
    """Run a program as a terminal does, and end what is left of it."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            yield Group(process, iter(process.stdout.readline, ""))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_every_example_is_tested() -> None:
    tests = Path(__file__).read_text("utf-8")
    for example in EXAMPLES.iterdir():
        assert f'"{example.name}"' in tests
