"""Traces found by policy and problem."""

from collections.abc import Sequence
from typing import NamedTuple

from giro.errors import BadParameter
from giro.simulation.trace import Trace


class Played(NamedTuple):
    """The traces of an experiment."""

    traces: Sequence[Trace]

    def __call__(self, policy: str, problem: str) -> Trace:
        """Return the trace of one policy on one problem."""
        trace = self.find(policy, problem)
        if trace is None:
            raise BadParameter(f"{policy} was not played on {problem}")
        return trace

    def find(self, policy: str, problem: str) -> Trace | None:
        """Return the trace of one policy on one problem, None if there is none."""
        wanted = (policy, problem)
        found = (t for t in self.traces if (t.setting.policy, t.setting.problem) == wanted)
        return next(found, None)
