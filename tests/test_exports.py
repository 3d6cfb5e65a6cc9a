"""Classes are found where users look for them, and the version is the same everywhere."""

import re
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
    assert sorted(cls.__name__ for cls in own) == sorted(package.__all__)
    assert all(getattr(package, cls.__name__) is cls for cls in own)


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [giro.__version__]
