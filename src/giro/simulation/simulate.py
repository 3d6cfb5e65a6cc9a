"""Many runs side by side: an experiment is problems x policies x rounds x runs x seed.

`run` plays an experiment and keeps its runs. `simulate` plays one policy on one problem.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from giro.checks import check, whole
from giro.errors import BadParameter
from giro.policy import Policy
from giro.problem import Problem
from giro.progress import shown
from giro.simulation.engines import Engine, EngineName, open_engine, player_of
from giro.simulation.kept import Kept
from giro.simulation.play import Work
from giro.simulation.trace import Setting, Spacing, Trace, merge

OnRuns = Callable[[Setting, int], None]


def simulate(
    policy: Policy | str,
    problem: Problem | str,
    *,
    rounds: int,
    runs: int = 100,
    seed: int = 0,
    jobs: int | None = None,
    points: int = 200,
    spacing: Spacing = "even",
    progress: bool | Callable[[int], None] = True,
    engine: EngineName = "threads",
    address: str | None = None,
) -> Trace:
    """Play a policy on `runs` instances of a problem and return the trace of its regret.

    Policy and problem are objects or their text. Run r draws from its own streams, made from `seed`
    and r. So results do not depend on `jobs`, the number of threads (default: all cores), and in
    run r every policy meets the same instance. Curves have about `points` checkpoints, with
    `spacing` "even" or "log". A terminal or a notebook shows how many runs are done after two
    seconds, unless `progress` is False; a function is called instead with the number of runs that
    have just ended.
    `engine` "dask" or "ray" plays the runs on the cluster at `address`, or on a local one of
    `jobs` processes. A script must start a local cluster below `if __name__ == "__main__"`.
    `engine` "cuda" plays many runs at once on a GPU: the same instances, and other draws of the
    policy, from the same distribution (docs/howto/gpu.md).

    >>> trace = simulate("greedy", "bernoulli:means=[0.5]", rounds=10, runs=3, seed=1)
    >>> trace.regret[:, -1].tolist()
    [0.0, 0.0, 0.0]
    """
    experiment = Experiment([problem], [policy], rounds, runs, seed, points, spacing)

    doing = f"giro plays {experiment.work[0].setting.policy}"
    with shown(doing, experiment.runs, wanted=progress is True) as task:
        told = progress if callable(progress) else task.advance

        def on_runs(_: Setting, count: int) -> None:
            if count:
                told(count)

        (trace,) = run(experiment, jobs=jobs, on_runs=on_runs, engine=engine, address=address)
    return trace


@dataclass(frozen=True)
class Experiment:
    """Every policy on every problem, all on the same instances."""

    problems: Sequence[Problem | str]
    policies: Sequence[Policy | str]
    rounds: int
    runs: int = 100
    seed: int = 0
    points: int = 200
    spacing: Spacing = "even"

    def __post_init__(self) -> None:
        """Check everything before anything is computed."""
        check("a simulation", whole(1), runs=self.runs)
        object.__setattr__(self, "runs", int(self.runs))
        if not self.problems or not self.policies:
            raise BadParameter("an experiment needs at least one problem and one policy")
        if len({work.setting for work in self.work}) < len(self.work):
            raise BadParameter("a policy or a problem is listed twice")

    @functools.cached_property
    def work(self) -> tuple[Work, ...]:
        """Each policy on each problem, problem by problem."""
        return tuple(
            Work(
                policy,
                problem,
                make_setting(
                    policy,
                    problem,
                    rounds=self.rounds,
                    seed=self.seed,
                    points=self.points,
                    spacing=self.spacing,
                ),
            )
            for problem in map(Problem.parse, self.problems)
            for policy in map(Policy.parse, self.policies)
        )


def make_setting(
    policy: Policy | str,
    problem: Problem | str,
    *,
    rounds: int,
    seed: int,
    points: int = 200,
    spacing: Spacing = "even",
) -> Setting:
    """Check the setting of a simulation and return it."""
    check("a simulation", whole(1), rounds=rounds, points=points)
    check("a simulation", whole(0), seed=seed)
    setting = Setting(
        Policy.parse(policy).text,
        Problem.parse(problem).text,
        int(rounds),
        int(seed),
        int(points),
        spacing,
    )
    _ = setting.checkpoints
    return setting


def run(
    experiment: Experiment,
    kept: Kept | None = None,
    *,
    jobs: int | None = None,
    on_runs: OnRuns | None = None,
    engine: EngineName = "threads",
    address: str | None = None,
    fresh: bool = True,
) -> Iterator[Trace]:
    """Yield the trace of each policy on each problem, in the experiment's order.

    Kept runs are not computed again if the present code reproduces them. Otherwise new runs are
    played or, without `fresh`, the kept ones are yielded. `on_runs` is called with a setting and
    the number of its runs that were just computed or read. After Ctrl-C the finished runs are saved
    and yielded before KeyboardInterrupt is raised. `engine` and `address` are those of `simulate`.
    The engine starts when there is work for it.
    """
    kept = Kept() if kept is None else kept
    if engine == "cuda":
        kept.played_by(*player_of(engine))
    kept.check(experiment.work)
    report = on_runs or (lambda setting, count: None)
    with ExitStack() as stack:
        stack.callback(kept.save)
        opened = open_engine(engine, jobs=jobs, address=address)
        player = functools.cache(lambda: stack.enter_context(opened))
        for work in experiment.work:
            interrupted = False
            if fresh or kept.newest(work.setting) is kept.present(work.setting):
                interrupted = _complete(work, experiment.runs, kept, player, report)
            else:
                report(work.setting, experiment.runs)
            trace = kept.present(work.setting) if fresh else kept.newest(work.setting)
            if trace:
                yield trace.only(experiment.runs)
            if interrupted:
                raise KeyboardInterrupt


def _complete(
    work: Work, runs: int, kept: Kept, player: Callable[[], Engine], report: OnRuns
) -> bool:
    """Play the missing runs of a setting, and return whether Ctrl-C interrupted them."""
    present = kept.present(work.setting)
    pieces = [present] if present else []
    finished = set(present.runs.tolist()) if present else set()
    missing = [number for number in range(runs) if number not in finished]
    report(work.setting, runs - len(missing))
    if not missing:
        return False
    labelled = work._replace(setting=kept.label(work.setting))
    try:
        for trace in player().finished(labelled, missing):
            pieces.append(trace)
            report(work.setting, trace.runs.size)
            if kept.is_due:
                pieces = [merge(pieces)]
                kept.put(pieces[0])
                kept.save()
    except KeyboardInterrupt:
        return True
    finally:
        if pieces:
            kept.put(merge(pieces))
    return False
