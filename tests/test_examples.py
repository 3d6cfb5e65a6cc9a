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
from servers import KEY, Server, free_port

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed_by(name: str, *words: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *words]
    key = {"GIRO_KEY": KEY}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | key
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The address of a service."""
    with Server(port=free_port(), folder=tmp_path) as server:
        yield server.ready().url


# of a hundred readers nothing is learned yet; of a few hundred, more clicks may be luck
@pytest.mark.parametrize("visitors", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_knowing_the_readers_brings_more_clicks_on_the_news(
    service: str, tmp_path: Path, visitors: int
) -> None:
    out = tmp_path / "news.png"
    said = printed_by("news.py", "--url", service, "--visitors", str(visitors), "--out", str(out))
    line = rf"^(\S+) +{visitors} +(\d+) +(0\.\d+) +0\.\d+$"
    clicks = {name: int(n) for name, n, _ in re.findall(line, said, re.MULTILINE)}
    assert len(clicks) == 3 and min(clicks.values()) > 0
    assert visitors < 2000 or max(clicks, key=lambda name: clicks[name]) == "knows-readers"
    assert out.stat().st_size > 10_000


def test_a_router_of_language_models_earns_more_than_each_of_them(service: str) -> None:
    said = printed_by("llm_router/router.py", "--url", service, "--prompts", "500")
    rows = re.findall(r"^(\w[\w ]*?) +(0\.\d+) ", said, re.MULTILINE)
    reward = {name: float(value) for name, value in rows}
    assert reward["the bandit"] > max(reward["small"], reward["coder"], reward["large"])
    assert reward["the best"] >= reward["the bandit"]


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
        for line, _ in zip(shop.lines, range(500), strict=False):  # after 200 visits each
            share = re.search(r"free delivery (\d+)%", line)
            if share and int(share[1]) > 60 and leader(dashboard) == "free delivery":
                break
        else:
            pytest.fail("it has not won in 100,000 visits")
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
        assert f'"{example.name}' in tests
