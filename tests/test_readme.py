"""The README and CONTRIBUTING do what they say."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from servers import Server, free_port

import giro
from giro.cli.main import status_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
USAGE = (ROOT / "docs" / "usage.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(text: str) -> list[str]:
    """Return the lines of shell blocks that call giro, but for those that run until Ctrl+C."""
    lines = "\n".join(blocks(text, "sh")).splitlines()
    return [line for line in lines if re.match("giro (?!serve|dashboard)", line)]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_python_of_the_readme_runs(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(README)
    assert " ± " in capsys.readouterr().out
    assert (elsewhere / "colours.giro").exists()


def test_the_python_of_the_usage_page_runs(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(USAGE)
    assert "did you mean 'giro'?" in capsys.readouterr().out
    assert (elsewhere / "gaussian.parquet").exists()


def run(text: str) -> None:
    names: dict[str, object] = {}
    for block in blocks(text, "python"):
        exec(compile(block, "a page", "exec"), names)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_the_commands_of_the_readme_run(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands(README)
    assert len(commands(USAGE)) > 5
    for command in commands(README + USAGE):
        assert status_of(shlex.split(command)[1:]) == 0, command
    assert (elsewhere / "regret.svg").exists()
    assert capsys.readouterr().out.count("policy ") >= 4


def test_the_service_of_the_readme_starts(elsewhere: Path) -> None:
    assert "\ngiro serve " in README
    with Server(port=free_port(), folder=elsewhere) as server:
        server.ready().stop()


def test_the_targets_of_the_readme_exist() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"(?:`|^)make (\w+)", README + CONTRIBUTING, re.MULTILINE):
        assert target in targets


def test_links_and_pictures_of_the_documents_exist() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", README + CONTRIBUTING):
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        headings = re.findall(r"^#+ (.*)", (ROOT / path).read_text(), re.M) if anchor else []
        assert not anchor or anchor in [each.lower().replace(" ", "-") for each in headings], link


def in_copy(package: Path, *words: str) -> str:
    """Run Python with a copy of the package and return what it printed."""
    paths: Sequence[str] = (str(package), os.environ.get("PYTHONPATH", ""))
    cache = {"GIRO_CACHE_DIR": str(package / "cache")}
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | cache | {"PYTHONPATH": os.pathsep.join(paths)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def copy_with_new_policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, with the policy of CONTRIBUTING added as one file."""
    folder = tmp_path_factory.mktemp("copy")
    source = Path(giro.__file__).parent
    shutil.copytree(source, folder / "giro", ignore=shutil.ignore_patterns("__pycache__"))
    (name,) = re.findall(r"`src/giro/(policies/\w+\.py)`", CONTRIBUTING)
    (example,) = blocks(CONTRIBUTING, "python")
    (folder / "giro" / name).write_text(example)
    return folder


MAIN = "from giro.cli.main import main; main()"
POLICY = "explore-then-commit"


def test_the_policy_of_contributing_is_found_by_the_command_line(
    copy_with_new_policy: Path,
) -> None:
    records = json.loads(in_copy(copy_with_new_policy, "-c", MAIN, "policies", "--json"))
    (found,) = (record for record in records if record["name"] == POLICY)
    assert found["parameters"] == {"pulls": "10"}
    refused = f"""
from giro.cli.main import status_of
assert status_of(["simulate", "{POLICY}:pulls=0"]) == 2
"""
    in_copy(copy_with_new_policy, "-c", refused)


def test_the_policy_of_contributing_is_simulated_and_drawn(
    copy_with_new_policy: Path, tmp_path: Path
) -> None:
    (command,) = (line for line in commands(CONTRIBUTING) if "simulate" in line)
    words = command.replace("regret.png", str(tmp_path / "regret.svg")).split()[1:]
    records = json.loads(in_copy(copy_with_new_policy, "-c", MAIN, *words, "--json"))
    assert [record["policy"] for record in records] == [f"{POLICY}:pulls=20", "ucb1"]
    assert f"<!-- {POLICY}:pulls=20 -->" in (tmp_path / "regret.svg").read_text()


def test_the_policy_of_contributing_is_judged_by_the_contract(
    copy_with_new_policy: Path,
) -> None:
    files = (f"tests/contract/test_{name}.py" for name in ("policies", "states", "offers"))
    words = ("-m", "pytest", "-q", "-n", "0", *files, "-k", POLICY)
    closing = in_copy(copy_with_new_policy, *words).splitlines()[-1]
    passed = int(re.findall(r"(\d+) passed", closing)[0])
    assert passed >= 15
    assert "failed" not in closing
