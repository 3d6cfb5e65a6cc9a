"""Plans: the kernels that play a policy on a GPU, and their arguments."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from giro.errors import BadParameter
from giro.kernels.cuda.source import padded
from giro.models.linear import Linear
from giro.models.logistic import Logistic
from giro.models.network import Network
from giro.models.sgd import LinearSgd
from giro.offer import Shape
from giro.policies._logistic_arms import TOLERANCE
from giro.policies._replicas import KINDS
from giro.policies.contextual_giro import ContextualGiro
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policies.lin_ts import LinTs
from giro.policies.lin_ucb import LinUcb
from giro.policies.poisson_bootstrap import PoissonBootstrap
from giro.policies.ucb_glm import UcbGlm
from giro.policy import Policy
from giro.problem import Problem
from giro.problems.classification import Classification
from giro.seeds import stream

MOST_ARMS = 32  # the choice of an arm has a warp for each
_WIDEST = 127  # columns of a row: the sums of a block lie in its shared memory
_MOST_HIDDEN = 15  # units of a network
_FOR_BUNDLES = 100_000  # bytes of shared memory: small GPUs have as much, large ones twice

_GRAM = ("columns.cuh", "tensor.cuh", "gram.cuh")
Arrays: TypeAlias = dict[str, tuple[tuple[int, ...], Any]]  # shape for one run, and kind

_REAL, _WHOLE, _SINGLE, _WORD = np.float64, np.int32, np.float32, np.uint32


class Step(NamedTuple):
    """One kernel that is started in every round, or once for many rounds."""

    files: tuple[str, ...]
    function: str
    threads: int
    blocks_per_run: int
    has_shared: bool  # whether it says how much shared memory it needs


class Plan(NamedTuple):
    """How a policy is played: kernels in the order of a round, and their data."""

    steps: tuple[Step, ...]
    whole: bool  # whether the only kernel plays many rounds at a time
    constants: dict[str, int]  # of the source
    numbers: dict[str, float]  # of the structure `Game`
    arrays: Arrays  # shape for one run, and kind, all zero
    start: Callable[[int, int], dict[str, np.ndarray]]  # of seed and run: arrays that begin else


def plan_for(policy: Policy, problem: Problem, rounds: int) -> Plan:
    """Return how the policy is played for so many rounds, or say why it cannot be."""
    if not isinstance(problem, Classification):
        raise BadParameter(
            f"the engine cuda plays classification problems, got {problem}: use another engine"
        )
    shape = Shape(problem.n_arms, problem.n_features, 0, rounds, rounds)
    if shape.n_arms > MOST_ARMS or shape.width > _WIDEST:
        raise BadParameter(
            f"the engine cuda plays up to {MOST_ARMS} arms and {_WIDEST - 1} features, got "
            f"{shape.n_arms} and {shape.n_features}: use another engine"
        )
    maker = _MAKERS.get(type(policy))
    forgets = any(getattr(policy, name) is not None for name in ("window", "half_life"))
    breaks_ties = getattr(policy, "ties", "random") == "random"
    plan = maker(policy, shape) if maker and breaks_ties and not forgets else None
    if plan is None:
        raise BadParameter(
            f"the engine cuda cannot play {policy}: it plays contextual-giro and epsilon-greedy "
            "with the models linear, logistic, linear-sgd and network, giro-ensemble and "
            "poisson-bootstrap with linear, lin-ucb, lin-ts and ucb-glm; use another engine"
        )
    return _completed(plan, shape)


def _completed(plan: Plan, shape: Shape) -> Plan:
    """Add the arguments that all kernels need."""
    k, rounds = shape.n_arms, shape.rounds
    constants = {"D": shape.width, "DP": padded(shape.width), "ARMS": k}
    arrays: Arrays = {
        "arms": ((rounds,), np.uint8),
        "history": ((k, rounds, 2), _WHOLE),
        "length": ((k,), _WHOLE),
        "ranks": ((k,), _WHOLE),
        "values": ((k,), _REAL),
    }

    def start(seed: int, run: int) -> dict[str, np.ndarray]:
        return {"ranks": np.arange(k, dtype=_WHOLE)} | plan.start(seed, run)

    constants, arrays = constants | plan.constants, arrays | plan.arrays
    return plan._replace(constants=constants, arrays=arrays, start=start)


# -- policies --------------------------------------------------------------------------------------


def _giro(policy: Any, shape: Shape) -> Plan | None:
    numbers, model = {"a": float(policy.a)}, policy.model
    if isinstance(model, Linear):
        step = _fit(("bootstrap.cuh", *_GRAM, "linear_giro.cu"), 256, shape)
        numbers["penalty"] = model.penalty
        return _by_values(0, step, numbers, {"counts": _rows(shape, _WORD)})
    if isinstance(model, Logistic):
        files = ("bootstrap.cuh", *_GRAM, "logistic.cuh", "logistic_giro.cu")
        numbers |= {"penalty": model.penalty, "tolerance": model.tolerance}
        arrays = {"counts": _rows(shape, _WORD)} | _regressions(shape)
        return _by_values(0, _fit(files, 256, shape), numbers, arrays, CHUNK=_chunk(shape))
    return _sgd(0, model, numbers, shape) or _networks(0, model, numbers, shape)


def _greedy(policy: Any, shape: Shape) -> Plan | None:
    model = policy.model
    state = policy.__class__(policy.epsilon, policy.b, policy.share).start(shape, stream(0))
    numbers = {"epsilon": state.epsilon, "b": state.b}  # as the policy itself has them
    if isinstance(model, Linear):
        return _ridge(0, model.penalty, numbers, shape)
    if isinstance(model, Logistic):
        numbers |= {"penalty": model.penalty, "tolerance": model.tolerance}
        return _logistic(0, numbers, shape)
    return _sgd(1, model, numbers, shape) or _networks(1, model, numbers, shape)


def _lin_ucb(policy: Any, shape: Shape) -> Plan | None:
    bias = math.sqrt(policy.penalty) * policy.norm
    first = 0.5 * math.sqrt(-2.0 * math.log(policy.delta)) + bias
    radius = np.full(shape.n_arms, first if policy.scale is None else float(policy.scale))
    numbers = {"scale": _given(policy.scale), "delta": policy.delta, "bias": bias}
    per_arm = ((shape.n_arms,), _REAL)
    return _ridge(
        1, policy.penalty, numbers, shape, arrays={"log_det": per_arm}, first={"radius": radius}
    )


def _lin_ts(policy: Any, shape: Shape) -> Plan | None:
    numbers = {"scale": _given(policy.scale), "delta": policy.delta}
    return _ridge(2, policy.penalty, numbers, shape)


def _replicas(policy: Any, shape: Shape) -> Plan | None:
    policy = policy.resolved(contextual=shape.contextual)
    if not isinstance(policy.model, Linear) or policy.spread not in (None, 1.0):
        return None
    weights = getattr(policy, "weights", "poisson")
    numbers = {"a": float(getattr(policy, "a", 0.0))}
    if weights == "gaussian":
        return None
    plan = _ridge(3, policy.model.penalty, numbers, shape, replicas=policy.replicas)
    return plan._replace(constants=plan.constants | {"KIND": KINDS.index(weights)})


def _ucb_glm(policy: Any, shape: Shape) -> Plan | None:
    state = policy.start(shape._replace(capacity=1), stream(0))
    tau = shape.width * shape.n_arms if policy.tau is None else policy.tau
    numbers = {"penalty": policy.penalty, "tolerance": TOLERANCE, "scale": state.alpha, "tau": tau}
    factor = _factor(shape, policy.penalty, 1)
    return _logistic(1, numbers, shape, first={"factor": factor})


_MAKERS: dict[type[Policy], Callable[[Any, Shape], Plan | None]] = {
    ContextualGiro: _giro,
    EpsilonGreedy: _greedy,
    GiroEnsemble: _replicas,
    PoissonBootstrap: _replicas,
    LinUcb: _lin_ucb,
    LinTs: _lin_ts,
    UcbGlm: _ucb_glm,
}


# -- parts of plans --------------------------------------------------------------------------------


def _given(scale: float | None) -> float:
    """Return a width, or a negative number for the one that theory has."""
    return -1.0 if scale is None else float(scale)


def _rows(shape: Shape, kind: Any) -> tuple[tuple[int, ...], Any]:
    """Return an array with a number for each row of each arm."""
    return (shape.n_arms, shape.rounds), kind


def _regressions(shape: Shape) -> Arrays:
    return {
        "theta": ((shape.n_arms, padded(shape.width)), _REAL),
        "made": ((shape.n_arms,), _WHOLE),
        "spread": ((shape.n_arms, 2, shape.rounds), _SINGLE),
        "sums": ((shape.n_arms, shape.width, padded(shape.width) + 1), _REAL),
    }


def _factor(shape: Shape, penalty: float, replicas: int) -> np.ndarray:
    """Return the factors of penalty I, [arm, replica, D, DP]."""
    size = shape.n_arms, replicas, shape.width, padded(shape.width)
    eye = math.sqrt(penalty) * np.eye(size[2], size[3])
    return np.broadcast_to(eye, size)


def _fit(files: tuple[str, ...], threads: int, shape: Shape) -> Step:
    """Return the step that values each arm."""
    return Step(("game.cuh", *files), "fit_arms", threads, shape.n_arms, True)


def _by_values(
    rule: int,
    step: Step,
    numbers: dict[str, float],
    arrays: Arrays,
    start: Callable[[int, int], dict[str, np.ndarray]] = lambda seed, run: {},
    **constants: int,
) -> Plan:
    """Return the plan of a policy that values all arms, and then chooses."""
    choice = Step(("game.cuh", "choose.cu"), "choose", 32, 1, False)
    return Plan((step, choice), False, {"RULE": rule} | constants, numbers, arrays, start)


def _sgd(rule: int, model: Any, numbers: dict[str, float], shape: Shape) -> Plan | None:
    """Return the plan of a policy whose kernel fits linear models by stochastic gradient."""
    if not isinstance(model, LinearSgd):
        return None
    batch = 32 if shape.width < 32 else 16
    bundle = 128 * (padded(shape.width) + batch + 12) + 16  # bytes: rows, squares and what is given
    builders = _FOR_BUNDLES // (2 * bundle)
    files = ("copies.cuh", "order.cuh", "tensor.cuh", "sgd.cu")
    step = _fit(files, 32 * (1 + builders), shape)
    numbers = numbers | {"penalty": model.penalty, "tolerance": model.tolerance}
    arrays: Arrays = {"theta": ((shape.n_arms, padded(shape.width)), _REAL)}
    return _by_values(rule, step, numbers, arrays, BUILDERS=builders, BATCH=batch)


def _networks(rule: int, model: Any, numbers: dict[str, float], shape: Shape) -> Plan | None:
    """Return the plan of a policy with networks. Rule 1 trains on histories as they are."""
    if not isinstance(model, Network) or model.batch != 32 or model.passes != 1:
        return None
    if model.hidden > _MOST_HIDDEN:
        return None
    units, columns = model.hidden // 4 * 4 + 4, padded(shape.width)

    def start(seed: int, run: int) -> dict[str, np.ndarray]:
        state = model.start(shape.n_arms, shape.width, 1, stream(seed, run, 1))
        weights = np.zeros((shape.n_arms, columns + 1, units), _SINGLE)
        hidden = state.networks.hidden.reshape(shape.n_arms, shape.width, -1)[:, :, : model.hidden]
        weights[:, : shape.width, : model.hidden] = hidden
        weights[:, columns, : model.hidden] = state.networks.output[:, : model.hidden]
        return {"weights": weights}

    step = _fit(("copies.cuh", "order.cuh", "network.cu"), 128, shape)
    arrays: Arrays = {"weights": ((shape.n_arms, columns + 1, units), _SINGLE)}
    constants = {"HIDDEN": model.hidden, "SHUFFLED": rule}
    return _by_values(rule, step, numbers | {"rate": model.rate}, arrays, start, **constants)


def _logistic(
    rule: int,
    numbers: dict[str, float],
    shape: Shape,
    first: dict[str, np.ndarray] | None = None,
) -> Plan:
    """Return the plan of a policy that fits the model of the pulled arm again in each round."""
    files = ("game.cuh", *_GRAM, "factor.cuh", "logistic.cuh", "logistic_play.cu")
    step = Step(files, "play", 256, 1, True)
    kept = shape.width * (padded(shape.width) + 1) + padded(shape.width)
    arrays = _regressions(shape) | {"hessian": ((shape.n_arms, kept), _REAL)}
    plan = _whole(step, rule, numbers, arrays, first or {})
    return plan._replace(constants=plan.constants | {"CHUNK": _chunk(shape)})


def _chunk(shape: Shape) -> int:
    """Return how many rows a block adds to a Hessian at a time: more of short ones."""
    return 128 if shape.width < 32 else 64


def _whole(
    step: Step,
    rule: int,
    numbers: dict[str, float],
    arrays: Arrays,
    first: dict[str, np.ndarray],
) -> Plan:
    """Return the plan of a policy whose kernel plays many rounds by itself."""
    shapes = {name: (array.shape, array.dtype) for name, array in first.items()}
    constants = {"RULE": rule}
    return Plan((step,), True, constants, numbers, arrays | shapes, lambda seed, run: first)


def _ridge(
    rule: int,
    penalty: float,
    numbers: dict[str, float],
    shape: Shape,
    *,
    replicas: int = 1,
    arrays: Arrays | None = None,
    first: dict[str, np.ndarray] | None = None,
) -> Plan:
    """Return the plan of a policy whose regressions take in each row."""
    warps = min(16, max(shape.n_arms, replicas))
    files = ("game.cuh", "columns.cuh", "factor.cuh", "ridge.cu")
    step = Step(files, "play", 32 * warps, 1, False)
    begin = {"factor": _factor(shape, penalty, replicas)} | (first or {})
    plan = _whole(step, rule, numbers | {"replicas": replicas}, arrays or {}, begin)
    return plan._replace(constants=plan.constants | {"KIND": 0})
