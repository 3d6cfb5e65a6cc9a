"""StandIn: any arm with the same probability, at once, while the policy itself is compiled."""

from dataclasses import dataclass

from giro.policies.uniform import Uniform


@dataclass(frozen=True)
class StandIn(Uniform):
    """Uniform without compiled code, which takes microseconds longer and nothing to begin."""

    compiles = False
