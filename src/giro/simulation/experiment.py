"""Experiment: problems x policies x rounds x runs x seed, plain data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from giro.errors import BadParameter
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.checkpoints import Spacing
from giro.simulation.chunks import Work
from giro.simulation.simulate import make_setting, run_count


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
        object.__setattr__(self, "runs", run_count(self.runs))
        if not self.problems or not self.policies:
            raise BadParameter("an experiment needs at least one problem and one policy")
        settings = [cell.setting for cell in self.cells()]
        if len(set(settings)) < len(settings):
            raise BadParameter("a policy or a problem is listed twice")

    def cells(self) -> Iterator[Work]:
        """Yield each policy on each problem, problem by problem."""
        for problem in map(Problem.parse, self.problems):
            for policy in map(Policy.parse, self.policies):
                setting = make_setting(
                    policy,
                    problem,
                    rounds=self.rounds,
                    seed=self.seed,
                    points=self.points,
                    spacing=self.spacing,
                )
                yield Work(policy, problem, setting)
