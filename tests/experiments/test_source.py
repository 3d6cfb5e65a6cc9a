"""The code that the numbers of a run depend on."""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from giro import Policy, Problem
from giro.experiments import run as run_module
from giro.experiments import source
from giro.experiments.experiment import Experiment
from giro.experiments.run import kept_traces, load_folder, run, trace_file
from giro.experiments.source import modules_behind, run_digest
from tests.known import policies, policies_with_models, problems

STATLOG = Problem.parse("classification:data=statlog")
BERNOULLI = Problem.parse("bernoulli")
EXPERIMENT = Experiment(["bernoulli"], ["ucb1"], rounds=20, runs=2, seed=1)


def test_it_is_that_of_policy_model_problem_and_loop() -> None:
    policy = Policy.parse("contextual-giro:model=logistic")
    behind = modules_behind(policy, STATLOG)
    assert behind >= {
        "giro.policies.contextual_giro",
        "giro.models.logistic",
        "giro.kernels.logistic_fit",
        "giro.kernels.quasi_newton",  # not imported by the policy itself
        "giro.kernel",
        "giro.problems.classification",
        "giro.datasets.scaling",
        "giro.simulation.play",
        "giro.seeds",
    }


def test_other_policies_and_models_are_not_in_it() -> None:
    behind = modules_behind(Policy.parse("contextual-giro:model=logistic"), STATLOG)
    assert not behind & {
        "giro.errors",
        "giro.kernel_cache",
        "giro.kernels.network_step",
        "giro.models.network",
        "giro.policies.lin_ucb",
        "giro.problems.bernoulli",
    }


@pytest.mark.parametrize("policy", [*policies(), *policies_with_models()], ids=str)
def test_nothing_is_missed_that_the_modules_hold_when_loaded(policy: Policy) -> None:
    """The slow twin: everything that can be reached from the policy's module by its names."""
    assert _reached(policy) <= modules_behind(policy, BERNOULLI)


@pytest.mark.parametrize("problem", problems(), ids=str)
def test_nor_of_the_problem(problem: Problem) -> None:
    assert _reached(problem) <= modules_behind(Policy.parse("ucb1"), problem)


def _reached(start: object) -> set[str]:
    reached: set[str] = set()
    waiting = {type(start).__module__}
    while waiting:
        module = waiting.pop()
        reached.add(module)
        waiting |= {name for name in _names_in(sys.modules[module]) if name not in reached}
    return reached - source._UNIMPORTANT


def _names_in(module: ModuleType) -> set[str]:
    """Return giro's modules in which something was defined that this module has a name for."""
    if module.__name__ in source._UNIMPORTANT:
        return set()
    owners = {getattr(value, "__module__", None) for value in vars(module).values()}
    return {owner for owner in owners if isinstance(owner, str) and owner.startswith("giro.")}


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of one's own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "some_module_of_mine.py"
    path.write_text(ORIGINAL)
    return path


ORIGINAL = '''"""Doc."""

def f(x):
    """Return more."""
    return x + 1  # a remark
'''


def code_of(path: Path, text: str) -> str:
    path.write_text(text)
    importlib.invalidate_caches()
    return source._code_of.__wrapped__(path.stem)


def test_comments_docstrings_and_empty_lines_do_not_count(module: Path) -> None:
    bare = "def f(x):\n    return x + 1"
    assert code_of(module, ORIGINAL) == bare
    other = ORIGINAL.replace("Doc.", "Doc.\n\nMore.").replace("a remark", "another")
    assert code_of(module, other.replace("Return more", "Add 1").replace("\n\n", "\n\n\n")) == bare


def test_code_and_strings_that_are_no_docstrings_count(module: Path) -> None:
    texts = [ORIGINAL, ORIGINAL.replace("+ 1", "+ 2"), ORIGINAL + 'X = "# no comment"\n']
    assert len({code_of(module, text) for text in texts}) == 3
    assert "# no comment" in code_of(module, texts[2])


def test_other_code_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, other = Policy.parse("ucb1"), Policy.parse("greedy")
    before = run_digest(policy, BERNOULLI), run_digest(other, BERNOULLI)
    code = source._code_of
    monkeypatch.setattr(
        source, "_code_of", lambda name: code(name) + ("x" if name == "giro.policies.ucb1" else "")
    )
    assert run_digest(policy, BERNOULLI) != before[0]
    assert run_digest(other, BERNOULLI) == before[1]


def test_runs_belong_to_the_code_that_was_there_when_they_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = Experiment(["bernoulli"], ["ucb1", "greedy"], rounds=20, runs=2, seed=1)
    before = {run_digest(Policy.parse(name), BERNOULLI) for name in ("ucb1", "greedy")}
    playing = run(two, tmp_path, by_source=True)
    next(playing)
    monkeypatch.setattr(run_module, "run_digest", lambda policy, problem: "edited meanwhile")
    list(playing)
    assert {path.name for path in tmp_path.iterdir()} == before


def test_runs_of_other_code_are_left_aside_and_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []

    def play() -> None:
        found = [trace.runs.size for trace in kept_traces(EXPERIMENT, tmp_path, by_source=True)]
        list(run(EXPERIMENT, tmp_path, by_source=True))
        computed.append(2 - sum(found))

    play()
    play()
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "run_digest", lambda policy, problem: "other")
        play()
    play()
    assert computed == [2, 0, 2, 0]
    assert len(list(tmp_path.glob("*/*.parquet"))) == 2
    assert len(load_folder(tmp_path)) == 1


def test_of_two_traces_with_one_setting_the_newer_is_loaded(tmp_path: Path) -> None:
    for runs, age in ((3, 0), (2, 100)):
        (trace,) = run(Experiment(["bernoulli"], ["ucb1"], 20, runs=runs, seed=1))
        path = trace_file(tmp_path / str(runs), trace.setting)
        path.parent.mkdir()
        trace.save(path)
        os.utime(path, (1e9 - age, 1e9 - age))
    (loaded,) = load_folder(tmp_path)
    assert loaded.runs.size == 3
