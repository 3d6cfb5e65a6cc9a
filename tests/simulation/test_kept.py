"""Runs that are kept: recognised by what they play, apart by what made them."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from contract.steps import in_steps
from known import bootstrap_mean, policies
from simulation.traces import small_trace

from giro import Policy, Problem, Trace, simulate
from giro.paper.studies import contextual, settings
from giro.policies.giro import Giro
from giro.policies.randomized import Randomized
from giro.seeds import stream
from giro.simulation import kept as kept_module
from giro.simulation import play
from giro.simulation.kept import FILE, Kept, is_reproduced, load_folder
from giro.simulation.play import Work, play_run
from giro.simulation.simulate import Experiment, run
from giro.simulation.trace import Setting, load_traces, save_traces
from giro.version import __version__

TWO = Experiment(["bernoulli"], ["giro:a=1", "greedy"], rounds=300, runs=4, seed=3)
GIRO, GREEDY = TWO.work
SECOND = f"{__version__}+1"  # what other code of the same version is called


@pytest.fixture
def other_samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same laws, other draws."""
    monkeypatch.setattr(play, "stream", lambda seed, *path: stream(seed + 1, *path))


@pytest.fixture
def other_giro(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of one policy."""
    start = Giro.start
    monkeypatch.setattr(Giro, "start", lambda self, *rest: start(Giro(a=self.a + 1), *rest))


def played(folder: Path, experiment: Experiment = TWO, *, fresh: bool = True) -> list[list[float]]:
    """Return the final regrets of each trace."""
    traces = run(experiment, Kept(folder), fresh=fresh)
    return [trace.regret[:, -1].tolist() for trace in traces]


def versions(folder: Path) -> list[tuple[str, str, int]]:
    """Return policy, version and number of runs of each trace in the file."""
    found = load_traces(folder / FILE)
    return [(t.setting.policy, t.setting.version, t.runs.size) for t in found]


# -- what the present code plays again ------------------------------------------------------------


@pytest.mark.parametrize("policy", policies(), ids=str)
def test_a_run_begins_as_it_begins_when_it_is_stopped_early(policy: Policy) -> None:
    problem, points = Problem.parse("beta:n_arms=3"), np.array([20, 50, 90, 200])
    policy = in_steps(policy)
    whole = play_run(policy, problem, points, seed=1, run=2)
    begun = play_run(policy, problem, points[:3], seed=1, run=2, rounds=200)
    for name in ("regret", "reward", "best"):
        assert getattr(begun, name).tolist() == getattr(whole, name)[:3].tolist()
    assert begun.pulls.sum() == 90


@pytest.mark.parametrize("spacing", ["even", "log"])
def test_what_was_played_is_reproduced(spacing: str) -> None:
    trace = simulate("thompson", "beta", rounds=300, runs=2, points=50, spacing=spacing)  # type: ignore[arg-type]
    work = Work(Policy.parse("thompson"), Problem.parse("beta"), trace.setting)
    assert is_reproduced(work, trace)
    assert is_reproduced(work, trace.only(1))
    other = Work(Policy.parse("greedy"), Problem.parse("beta"), trace.setting)
    assert not is_reproduced(other, trace)


@pytest.mark.parametrize("curve", ["regret", "reward", "best"])
def test_every_checkpoint_of_the_beginning_counts_and_none_after_it(curve: str) -> None:
    trace = simulate("ucb1", "beta", rounds=300, runs=1, points=30)
    work = Work(Policy.parse("ucb1"), Problem.parse("beta"), trace.setting)
    for point, expected in ((0, False), (9, False), (10, True), (29, True)):
        altered = getattr(trace, curve).copy()
        altered[0, point] += 1
        assert is_reproduced(work, dataclasses.replace(trace, **{curve: altered})) is expected


def test_a_policy_whose_text_does_not_say_all_is_never_reproduced() -> None:
    mine = Randomized(bootstrap_mean)
    trace = simulate(mine, "bernoulli", rounds=30, runs=1)
    assert not is_reproduced(Work(mine, GIRO.problem, trace.setting), trace)


# -- runs of other code ---------------------------------------------------------------------------


def test_runs_that_are_not_reproduced_stay_beside_those_of_now(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = played(tmp_path)
    request.getfixturevalue("other_samplers")
    now = played(tmp_path)
    assert all(old != new for old, new in zip(before, now, strict=True))
    assert now == played(tmp_path)  # found again
    assert versions(tmp_path) == [
        ("giro:a=1", __version__, 4),
        ("greedy", __version__, 4),
        ("giro:a=1", SECOND, 4),
        ("greedy", SECOND, 4),
    ]
    assert [trace.setting.version for trace in load_folder(tmp_path)] == [SECOND] * 2


def test_a_changed_policy_leaves_the_others_alone(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = played(tmp_path)
    request.getfixturevalue("other_giro")
    now = played(tmp_path)
    assert (before[0] == now[0], before[1] == now[1]) == (False, True)
    assert versions(tmp_path)[1:] == [("greedy", __version__, 4), ("giro:a=1", SECOND, 4)]


def test_code_of_before_finds_its_runs_again(tmp_path: Path) -> None:
    before = played(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play, "stream", lambda seed, *path: stream(seed + 1, *path))
        played(tmp_path)
    assert played(tmp_path) == before
    assert len(versions(tmp_path)) == 4


def test_another_version_that_plays_the_same_goes_on_with_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(tmp_path, dataclasses.replace(TWO, runs=2))
    monkeypatch.setattr(kept_module, "__version__", "9.9")
    played(tmp_path)
    assert versions(tmp_path) == [("giro:a=1", __version__, 4), ("greedy", __version__, 4)]


def test_what_is_played_first_by_other_code_has_its_label(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    played(tmp_path, dataclasses.replace(TWO, policies=["greedy"]))
    request.getfixturevalue("other_samplers")
    played(tmp_path)
    assert versions(tmp_path)[1:] == [("giro:a=1", SECOND, 4), ("greedy", SECOND, 4)]


def test_unless_fresh_runs_of_other_code_are_played_neither_again_nor_further(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = played(tmp_path)
    request.getfixturevalue("other_samplers")
    more = Experiment(["bernoulli"], ["giro:a=1", "greedy", "ucb1"], rounds=300, runs=6, seed=3)
    now = played(tmp_path, more, fresh=False)
    assert now[:2] == before
    assert len(now[2]) == 6  # never played before
    assert versions(tmp_path)[2:] == [("ucb1", SECOND, 6)]


def test_after_an_interruption_nothing_of_other_code_is_yielded(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    before = played(tmp_path)
    request.getfixturevalue("other_samplers")

    def interrupt(setting: Setting, count: int) -> None:
        if count:
            raise KeyboardInterrupt

    found: list[Trace] = []
    with pytest.raises(KeyboardInterrupt):
        for trace in run(TWO, Kept(tmp_path), jobs=1, on_runs=interrupt):
            found.append(trace)
    assert [(t.setting.version, t.runs.size) for t in found] == [(SECOND, 1)]
    assert versions(tmp_path)[2:] == [("giro:a=1", SECOND, 1)]
    older = [t for t in load_traces(tmp_path / FILE) if t.setting.version == __version__]
    assert [t.regret[:, -1].tolist() for t in older] == before


def test_two_processes_lose_none_of_each_others_runs(tmp_path: Path) -> None:
    first, second = Kept(tmp_path), Kept(tmp_path)
    list(run(dataclasses.replace(TWO, policies=["greedy"]), first))
    list(run(dataclasses.replace(TWO, runs=2), second))
    list(run(dataclasses.replace(TWO, policies=["giro:a=1"]), first))
    assert sorted(versions(tmp_path)) == [
        ("giro:a=1", __version__, 4),
        ("greedy", __version__, 4),
    ]


def test_an_experiment_that_found_everything_does_not_write(tmp_path: Path) -> None:
    played(tmp_path)
    written = (tmp_path / FILE).stat()
    played(tmp_path)
    assert (tmp_path / FILE).stat().st_ino == written.st_ino


# -- what is judged -------------------------------------------------------------------------------


def judged(traces: Sequence[Trace], policies: Sequence[str], runs: int, folder: Path) -> list[str]:
    """Return the version and number of runs that each policy is judged by."""
    save_traces(traces, folder / FILE)
    found = Kept(folder).evidence(list(work_on(*policies)), runs=runs)
    return [f"{found.version}, {found.is_present}"] + [
        f"{t.setting.policy} {t.setting.version} {t.runs.size}" for t in found.traces
    ]


def work_on(*names: str) -> list[Work]:
    """Return work of which nobody has played the runs below."""
    problem = Problem.parse("bernoulli:means=[0.7,0.4]")
    return [Work(Policy.parse(n), problem, small_trace(policy=n).setting) for n in names]


def made_by(version: str, policy: str, runs: int) -> Trace:
    trace = small_trace([[float("nan")] * 2] * runs, policy=policy)
    return dataclasses.replace(trace, setting=dataclasses.replace(trace.setting, version=version))


def test_the_version_with_most_runs_is_judged_and_of_equals_the_newer(tmp_path: Path) -> None:
    old = [made_by("0.1", "ucb1", 3), made_by("0.1", "greedy", 3)]
    both = ["ucb1", "greedy"]
    assert judged(old, both, 3, tmp_path) == ["0.1, False", "ucb1 0.1 3", "greedy 0.1 3"]
    some = [*old, made_by("0.2", "ucb1", 3), made_by("0.2", "greedy", 2)]
    assert judged(some, both, 3, tmp_path) == ["0.1, False", "ucb1 0.1 3", "greedy 0.1 3"]
    assert judged(some, both, 2, tmp_path) == ["0.2, False", "ucb1 0.2 2", "greedy 0.2 2"]
    more = [*some[:-1], made_by("0.2", "greedy", 3)]
    assert judged(more, both, 3, tmp_path) == ["0.2, False", "ucb1 0.2 3", "greedy 0.2 3"]


def test_a_setting_that_the_judged_version_did_not_play_keeps_its_own_label(tmp_path: Path) -> None:
    traces = [made_by("0.1", "ucb1", 3), made_by("0.1", "greedy", 3), made_by("0.2", "giro", 3)]
    found = judged(traces, ["giro", "ucb1", "greedy"], 3, tmp_path)
    assert found == ["0.1, False", "giro 0.2 3", "ucb1 0.1 3", "greedy 0.1 3"]


def test_a_complete_experiment_of_now_is_judged_with_what_it_reproduces(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def evidence() -> list[object]:
        found = Kept(tmp_path).evidence([GIRO, GREEDY], runs=TWO.runs)
        return [found.is_present, *(t.setting.version for t in found.traces)]

    played(tmp_path)
    assert evidence() == [True, __version__, __version__]
    request.getfixturevalue("other_giro")
    assert evidence() == [False, __version__, __version__]
    played(tmp_path, dataclasses.replace(TWO, runs=2))
    assert evidence() == [False, __version__, __version__]
    played(tmp_path)
    assert evidence() == [True, SECOND, SECOND]  # ε-greedy's too, so that both can be paired


def test_runs_of_two_versions_are_compared_neither_in_claims_nor_by_the_rule() -> None:
    setup = contextual.Setup()

    def earning(policy: str, data: str, version: str) -> Trace:
        trace = small_trace(policy=policy, problem=setup.problem(data))
        setting = dataclasses.replace(trace.setting, version=version)
        return dataclasses.replace(trace, setting=setting)

    def traces(version: str) -> list[Trace]:
        others = [earning(p, d, "0.1") for p in setup.policies()[1:] for d in contextual.DATA]
        return [*others, *(earning(setup.policies()[0], d, version) for d in contextual.DATA)]

    one = contextual.claims(setup, traces("0.1"))
    two = contextual.claims(setup, traces("0.2"))
    assert sum(claim.missing for claim in one) == 0
    assert sum(claim.missing for claim in two) > 0
    assert sum(len(c.comparisons) + c.missing for c in two) <= contextual.n_comparisons()
    greedy = [t for t in traces("0.1") if "epsilon" in t.setting.policy]
    assert settings.earned(setup, greedy).mean == 0.5
    first = dataclasses.replace(
        greedy[0], setting=dataclasses.replace(greedy[0].setting, version="0.2")
    )
    assert np.isnan(settings.earned(setup, [first, *greedy[1:]]).mean)
