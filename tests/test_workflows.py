"""Workflows, hooks, changelog and metadata agree with each other and with what is there."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import giro

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TESTS = ROOT / ".github" / "workflows" / "tests.yml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]  # Keep a Changelog

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def jobs_of(path: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    return jobs


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs_of(path).values() for step in job.get("steps", [])]


def pythons() -> list[str]:
    """Return the versions of Python that the package names in its classifiers."""
    named = (re.fullmatch(r".* :: Python :: (3\.\d+)", text) for text in PROJECT["classifiers"])
    return [match[1] for match in named if match]


def test_linux_is_tested_with_every_python_that_the_package_names() -> None:
    assert jobs_of(TESTS)["linux"]["strategy"]["matrix"]["python"] == pythons()
    assert PROJECT["requires-python"] == f">={pythons()[0]}"


def test_the_other_systems_are_tested_with_the_oldest_and_the_newest_python() -> None:
    matrix = jobs_of(TESTS)["systems"]["strategy"]["matrix"]
    assert matrix["python"] == [pythons()[0], pythons()[-1]]
    assert matrix["system"] == ["macos-latest", "windows-latest"]


def test_every_path_that_a_workflow_names_is_there() -> None:
    paths = {path for file in WORKFLOWS for path in re.findall(r"\btests/\S+", file.read_text())}
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_every_target_that_a_workflow_makes_is_there() -> None:
    lines = [step.get("run", "") for file in WORKFLOWS for step in steps_of(file)]
    targets = {target for line in lines for target in re.findall(r"^make (\S+)", line)}
    assert targets == {"lint", "docs", "test", "test-clients"}
    assert all(re.search(rf"^{target}:", MAKEFILE, re.MULTILINE) for target in targets)


@each_workflow
def test_a_workflow_may_only_read_and_knows_no_secret(path: Path) -> None:
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}
    assert "secrets" not in path.read_text("utf-8")
    allowed = {
        name: job["permissions"] for name, job in jobs_of(path).items() if "permissions" in job
    }
    assert allowed == ({"publish": {"id-token": "write"}} if path.stem == "release" else {})


@each_workflow
def test_every_job_ends_some_day(path: Path) -> None:
    endless = [name for name, job in jobs_of(path).items() if "timeout-minutes" not in job]
    assert endless == (["tests"] if path.stem == "release" else [])  # jobs of the other workflow


def test_nothing_is_published_before_it_was_tested_and_built() -> None:
    assert jobs_of(ROOT / ".github/workflows/release.yml")["publish"]["needs"] == ["tests", "build"]


def test_hooks_run_what_lint_runs() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repository["repo"] == "local"
    entries = [re.sub(r" --(force-exclude|fix)", "", h["entry"]) for h in repository["hooks"]]
    (recipe,) = re.findall(r"^lint: .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    lines = re.sub(r"\$\(BIN\)", ".venv/bin", recipe).replace("--check ", "").splitlines()
    assert entries == [line.strip().removesuffix(" .") for line in lines]


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    first, *versions = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert first == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d|0\.1\.0", v) for v in versions)
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= set(KINDS)


def test_security_fixes_are_promised_for_this_version() -> None:
    minor = ".".join(giro.__version__.split(".")[:2])
    (oldest,) = re.findall(r"from (\d+\.\d+) on", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert tuple(map(int, oldest.split("."))) <= tuple(map(int, minor.split(".")))
