"""Classes are found where users look for them, and the version is the same everywhere."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import giro
from giro import models, policies, problems
from giro.model import Model
from giro.named import Named

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("package", "kind"),
    [(policies, giro.Policy), (problems, giro.Problem), (models, Model)],
    ids=["policies", "problems", "models"],
)
def test_every_class_is_exported_by_its_package(package: ModuleType, kind: type[Named]) -> None:
    own = [cls for cls in kind.known().values() if cls.__module__.startswith("giro.")]
    assert all(getattr(package, cls.__name__) is cls for cls in own)


HEAVY = "('numba', 'numpy', 'polars', 'rich', 'scipy', 'typer')"


def in_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_giro_imports_nothing_heavy() -> None:
    loaded = f"print([name for name in {HEAVY} if name in sys.modules])"
    assert in_new_process(f"import sys, giro; {loaded}") == "[]\n"


def test_all_names_are_there_before_and_after_they_are_used() -> None:
    code = """
import giro
assert set(giro.__all__) <= set(dir(giro))
for name in giro.__all__:
    assert getattr(giro, name) is getattr(giro, name), name
from giro import Bandit, policies
assert giro.policies.Giro is policies.Giro
assert giro.Bandit is Bandit
assert not hasattr(giro, "nothing")
"""
    in_new_process(code)


@pytest.mark.parametrize(
    "code",
    [
        "from giro.policy import Policy; Policy.parse('ucb1')",
        "from giro.problem import Problem; Problem.parse('bernoulli')",
        "from giro.model import Model; Model.parse('linear')",
        "from giro.bandit import Bandit; Bandit(['a', 'b'], 'ucb1')",
    ],
)
def test_names_are_known_whatever_is_imported_first(code: str) -> None:
    in_new_process(code)


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [giro.__version__]
