"""The programs of examples/ run, and show what they are there to show."""

import re
import subprocess
import sys
from pathlib import Path

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


def test_every_example_is_tested() -> None:
    tests = Path(__file__).read_text("utf-8")
    for example in EXAMPLES.glob("*.py"):
        assert f'"{example.name}"' in tests
