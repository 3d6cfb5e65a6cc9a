"""Auto: several models at once, weighted by how well they have predicted (Vovk, 1990)."""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from giro.checks import Positive, at_least
from giro.compiling import bind, dispatched_call, implementation, inlined, kernel, unrolled
from giro.errors import BadParameter
from giro.kernels.memory import now, trusted_since
from giro.model import Model, Sample, forget, partial_fit, recent_rows, refit, unfinished, value
from giro.model import start as start_model
from giro.models.estimator import as_model
from giro.models.extra_trees import ExtraTrees
from giro.models.linear import Linear
from giro.models.online_network import OnlineNetwork
from giro.offer import Context

_IGNORED = 1e-4  # a member with a smaller share does not predict
_LOSING = 1e-2  # a member with a smaller share is fitted ever less often
_FORGETS, _KEEPS_UP, _REFITTED = 0, 1, 2  # incremental, online, and other members


class _State(NamedTuple):
    members: Any  # a tuple of the members' states
    follows: np.ndarray  # [member] how it is fitted
    loss: np.ndarray  # [member] squared errors of predictions made before learning
    share: np.ndarray  # [member] of the sum
    since: np.ndarray  # [1] the time up to which losses have faded
    seen: np.ndarray  # [slot] rows that were predicted
    due: np.ndarray  # [slot, member] number of rows at which it is refitted
    eta: float
    growth: float


@dispatched_call
def _fit(state: Any, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Update a member with the last row, or refit it, depending on its kind."""
    raise TypeError("replaced by dispatch")


def _fit_in_python(state: Any, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Update or refit an estimator, whose state class does not show its kind."""
    fit = partial_fit if hasattr(state.estimator, "partial_fit") else refit
    fit(state, slot, sample, rng)


@kernel
def _partial_fit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Score the members on the last row, and update them with it."""
    _judge(state, slot, sample)
    n, m, counted = sample.positions.size + sample.dropped, 0, recent_rows(sample)
    for member in unrolled(state.members):
        if n >= state.due[slot, m] or unfinished(member):
            _fit(member, slot, sample, rng)
            losing = state.share[m] < _LOSING
            growth = state.growth if losing and state.follows[m] == _KEEPS_UP else 1.0
            if state.follows[m] == _REFITTED:
                growth = 2.0 if losing else state.growth
            state.due[slot, m] = n + max(1, int(counted * growth) - counted)
        m += 1


@kernel
def _refit(state: _State, slot: int, sample: Sample, rng: np.random.Generator) -> None:
    """Score the members on the new rows, and fit them all."""
    _judge(state, slot, sample)
    for member in unrolled(state.members):
        refit(member, slot, sample, rng)


@inlined  # members may be in Python
def _judge(state: _State, slot: int, sample: Sample) -> None:
    """Fade losses, add the squared errors on new rows, and update the shares."""
    left, state.since[0] = trusted_since(sample.memory, state.since[0]), now(sample.memory)
    if left < 1.0:
        for m in range(state.loss.size):
            state.loss[m] *= left
    n, m = sample.positions.size + sample.dropped, 0
    before = max(state.seen[slot], 1) - sample.dropped  # no prediction before the first row
    for member in unrolled(state.members):
        for i in range(max(before, 0), sample.positions.size):
            row = sample.positions[i]
            error = value(member, slot, sample.rows.contexts[row]) - sample.rows.rewards[row]
            state.loss[m] += error * error
        m += 1
    state.seen[slot] = n
    least, total = state.loss[0], 0.0
    for m in range(1, state.loss.size):
        least = min(least, state.loss[m])
    for m in range(state.loss.size):
        state.share[m] = math.exp(-state.eta * (state.loss[m] - least))
        total += state.share[m]
    for m in range(state.loss.size):
        state.share[m] /= total


@kernel
def _forget(state: _State, slot: int, sample: Sample) -> None:
    for member in unrolled(state.members):
        forget(member, slot, sample)


@kernel
def _value(state: _State, slot: int, context: Context) -> float:
    total, asked, m = 0.0, 0.0, 0
    for member in unrolled(state.members):
        if state.share[m] >= _IGNORED:
            total += state.share[m] * value(member, slot, context)
            asked += state.share[m]
        m += 1
    return total / asked


@inlined
def _unfinished(state: _State) -> bool:
    result = False
    for member in unrolled(state.members):
        result = result or unfinished(member)
    return result


@dataclass(frozen=True)
class Auto(Model, name="auto"):
    """The weighted mean of `members`, with weights exp(-`eta` × squared errors so far).

    Errors are those of predictions made before the reward was learned, over all slots. A member is
    any model, from Python also a scikit-learn estimator. Linear and other incremental members are
    updated with each row. So are online ones while they matter: with less than a hundredth of the
    weight they are fitted when a slot's rows have grown by the factor `growth`. All others are
    refitted whenever rows have grown by that factor, or by 2 if they do not matter.

    In a world that changes, members forget and so do weights: errors fade with the half-life, or
    with a window by a factor that lets as many of them count.
    """

    source = "Vovk 1990; Cesa-Bianchi and Lugosi 2006, Section 2.1"
    fitting = "history"
    refit = staticmethod(_refit)
    partial_fit = staticmethod(_partial_fit)
    forget = staticmethod(_forget)
    unfinished = staticmethod(_unfinished)
    value = staticmethod(_value)

    members: tuple[Model, ...] = field(
        default=(Linear(), OnlineNetwork(), ExtraTrees()), kw_only=True
    )
    eta: Positive = field(default=0.01, kw_only=True)
    growth: Annotated[float, at_least(1.0)] = field(default=1.1, kw_only=True)

    def __post_init__(self) -> None:
        """Check the parameters and wrap estimators."""
        super().__post_init__()
        if not isinstance(self.members, tuple | list) or not self.members:
            raise BadParameter(f"auto needs members, as in [linear,network], got {self.members!r}")
        object.__setattr__(self, "members", tuple(as_model(member) for member in self.members))

    @property
    def compiles(self) -> bool:  # type: ignore[override]  # known with the members
        """Whether all members compile."""
        return all(member.compiles for member in self.members)

    @property
    def most_rows(self) -> int | None:  # type: ignore[override]  # likewise
        """The rows that a member looks back to, if not to all."""
        most = [each.most_rows for each in self.members if each.fitting != "row"]
        return None if None in most else max((each for each in most if each), default=1)

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]  # known with the members
        """Whether all members do."""
        return all(member.takes_weights for member in self.members)

    def forgetting(self, *, windowed: bool) -> Model:
        """Return the same with members that forget."""
        members = (member.forgetting(windowed=windowed) for member in self.members)
        return replace(self, members=tuple(members))

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> _State:
        """Return unfitted members with equal shares."""
        n, states = len(self.members), []
        for member in self.members:
            states.append(start_model(member, slots, n_features, capacity, rng))
            kind, fit = type(states[-1]), refit if _follows(member) == _REFITTED else partial_fit
            bind(_fit, kind, implementation(fit, kind) if member.compiles else _fit_in_python)
        return _State(
            tuple(states),
            np.array([_follows(member) for member in self.members]),
            np.zeros(n),
            np.full(n, 1.0 / n),
            np.zeros(1, np.int64),
            np.zeros(slots, np.int64),
            np.zeros((slots, n), np.int64),
            float(self.eta),
            float(self.growth),
        )


def _follows(member: Model) -> int:
    return {"row": _FORGETS, "history": _KEEPS_UP}.get(member.fitting, _REFITTED)
