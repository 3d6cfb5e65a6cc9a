"""Tests are where their module is: tests/a/test_b.py judges src/giro/a/b.py, or the package a/b.

One aspect of a module may have a file of its own, tests/a/test_b_aspect.py. An underscore before
the name of a module is left out.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

import giro

TESTS, SOURCE = Path(__file__).parent, Path(giro.__file__).parent
APART = {  # folders of tests about many modules at once
    "contract": "what every policy, problem, model and bandit promises",
    "law": "Giro's distribution and regret, against literal twins",
    "golden": "what every policy plays on every problem",
    "benchmarks": "programs of benchmarks/",
    "scripts": "programs of scripts/",
}
OF_NO_MODULE = {  # files at the top: documents, the package as a whole, and tests themselves
    "test_deploy",
    "test_examples",
    "test_exports",
    "test_extras",
    "test_laws",
    "test_literal",
    "test_mirror",
    "test_pages",
    "test_readme",
    "test_site",
    "test_words",
    "test_workflows",
}
JUDGED_ELSEWHERE = {  # modules without a file of tests, and by what they are judged
    "policies/logistic_arms": "direct fits in test_ucb_glm, test_glm_ucb and test_log_phe",
    "policies/widths": "direct solves in test_lin_ucb, test_ucb_glm and test_glm_ucb",
    "simulation/engines/cuda_plans": "runs in an emulator, against twins in NumPy, in test_cuda",
    "simulation/engines/cuda_play": "likewise",
    "service/messages": "requests and answers in service/test_api and service/test_openapi",
    "service/personalizer/messages": "requests and answers in service/personalizer/test_door",
}


def place_of(module: Path) -> str:
    """Return where a module or package is, without an underscore before its name.

    >>> place_of(Path("policies/_widths.py")), place_of(Path("bandit/stores/__init__.py"))
    ('policies/widths', 'bandit/stores')
    """
    path = module.parent if module.name == "__init__.py" else module.with_suffix("")
    return path.with_name(path.name.lstrip("_")).as_posix()


def module_of(test: Path, places: Iterable[str]) -> str | None:
    """Return the module that a file of tests is named after: the longest name it begins with.

    >>> places = ["policies/giro", "policies/giro_ensemble"]
    >>> module_of(Path("policies/test_giro_ensemble.py"), places)
    'policies/giro_ensemble'
    >>> module_of(Path("policies/test_giro_window.py"), places)
    'policies/giro'
    >>> module_of(Path("test_giro.py"), places)
    """
    name = test.with_name(test.stem.removeprefix("test_")).as_posix()
    return max((p for p in places if f"{name}_".startswith(f"{p}_")), key=len, default=None)


def is_of_no_module(test: Path) -> bool:
    """Tell whether a file is one of the exceptions, or an aspect of one.

    >>> is_of_no_module(Path("test_pages_theory.py")), is_of_no_module(Path("cli/test_pages.py"))
    (True, False)
    """
    names = [name for name in OF_NO_MODULE if f"{test.stem}_".startswith(f"{name}_")]
    return test.parts[0] in APART or (len(test.parts) == 1 and bool(names))


def has_code(module: Path) -> bool:
    """Tell whether a module defines something, instead of importing it all."""
    body = ast.parse(module.read_text("utf-8")).body
    return any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in body)


MODULES = {place_of(path.relative_to(SOURCE)): path for path in sorted(SOURCE.glob("*/**/*.py"))}
MODULES |= {place_of(path.relative_to(SOURCE)): path for path in sorted(SOURCE.glob("[!_]*.py"))}
FILES = [path.relative_to(TESTS) for path in sorted(TESTS.rglob("test_*.py"))]


def test_every_module_with_code_has_a_file_of_tests() -> None:
    judged = {module_of(test, MODULES) for test in FILES if not is_of_no_module(test)}
    missing = {place for place, path in MODULES.items() if has_code(path)} - judged
    assert sorted(missing) == sorted(JUDGED_ELSEWHERE)


def test_every_file_of_tests_is_named_after_a_module() -> None:
    strays = [test for test in FILES if not is_of_no_module(test) and not module_of(test, MODULES)]
    assert strays == []


def test_no_file_is_an_exception_for_nothing() -> None:
    assert {test.stem for test in FILES if len(test.parts) == 1} >= OF_NO_MODULE
    assert {test.parts[0] for test in FILES} >= set(APART)
    assert MODULES.keys() >= JUDGED_ELSEWHERE.keys()
    assert not {name.removeprefix("test_") for name in OF_NO_MODULE} & MODULES.keys()


def test_no_program_has_the_name_of_a_folder_of_tests() -> None:
    """Tests import programs, which would hide the folder."""
    programs = [
        path for folder in ("benchmarks", "scripts") for path in TESTS.parent.glob(f"{folder}/*.py")
    ]
    folders = {path.name for path in TESTS.iterdir() if path.is_dir()}
    assert programs and not {path.stem for path in programs} & folders
