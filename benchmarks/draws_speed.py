"""Our draws against NumPy's inside numba, both as they would be written in a kernel."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from ratio import Ratio, in_turn

from giro.compiling import kernel
from giro.kernels.draws.continuous import (
    beta,
    standard_exponential,
    standard_gamma,
    standard_normal,
)
from giro.kernels.draws.discrete import binomial, hypergeometric, poisson
from giro.kernels.draws.uniform import integer_below, shuffle, shuffled, uniforms
from giro.kernels.giro.pseudo_rewards import ONE, REAL, ZERO
from giro.policies._replicas import draw_weights
from giro.seeds import stream

UNIT = "ns per draw"
BAR = 1.0
_LAST = 1024 - 1  # place of arrays that stay in the cache
Draw = Callable[..., float]


@kernel
def _exponential(out: np.ndarray, draws: int, rng: np.random.Generator) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.standard_exponential()


@kernel
def _normal(out: np.ndarray, draws: int, rng: np.random.Generator) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.standard_normal()


@kernel
def _gamma(out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.standard_gamma(a[i & _LAST])


@kernel
def _beta(
    out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray, b: np.ndarray
) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.beta(a[i & _LAST], b[i & _LAST])


@kernel
def _binomial(
    out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray, b: np.ndarray
) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.binomial(a[i & _LAST], b[i & _LAST])


@kernel
def _poisson(out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.poisson(a[i & _LAST])


@kernel
def _integer(out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray) -> None:
    for i in range(draws):
        out[i & _LAST] = rng.integers(0, a[i & _LAST])


class Law(NamedTuple):
    """What is drawn, by us and, as many times as asked for, by NumPy; with which parameters."""

    name: str
    ours: Draw
    theirs: Callable[..., None]
    parameters: list[tuple[float, ...]]


LAWS = (
    Law("exponential", standard_exponential, _exponential, [()]),
    Law("normal", standard_normal, _normal, [()]),
    Law("gamma", standard_gamma, _gamma, [(0.01,), (0.3,), (1.0,), (2.5,), (50.0,), (1000.0,)]),
    Law(
        "beta",
        beta,
        _beta,
        [(0.01, 0.02), (0.5, 0.5), (1.0, 1.0), (1.0, 3.0), (0.5, 3.0), (2.0, 2.0), (40.0, 60.0)],
    ),
    Law(
        "binomial",
        binomial,
        _binomial,
        [
            (1, 0.3),
            (10, 0.3),
            (100, 0.01),
            (30, 0.3),
            (50, 0.3),
            (100, 0.5),
            (1000, 0.3),
            (10**6, 1e-6),
            (10**6, 0.5),
            (10**9, 0.3),
        ],
    ),
    Law("Poisson", poisson, _poisson, [(m,) for m in (1e-3, 0.3, 1.0, 5.0, 9.9, 10.1, 100.0, 1e6)]),
    Law("integer below", integer_below, _integer, [(10,), (10**9,), (10**12,)]),
)


@functools.cache
def _loop(draw: Draw, n_parameters: int) -> Callable[..., None]:
    """Return a kernel that fills an array over and over, with parameters from other arrays.

    As in a policy, parameters change from draw to draw: nothing can be computed once for all.
    """

    @kernel
    def without(out: np.ndarray, draws: int, rng: np.random.Generator) -> None:
        for i in range(draws):
            out[i & _LAST] = draw(rng)

    @kernel
    def of_one(out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray) -> None:
        for i in range(draws):
            out[i & _LAST] = draw(a[i & _LAST], rng)

    @kernel
    def of_two(
        out: np.ndarray, draws: int, rng: np.random.Generator, a: np.ndarray, b: np.ndarray
    ) -> None:
        for i in range(draws):
            out[i & _LAST] = draw(a[i & _LAST], b[i & _LAST], rng)

    @kernel
    def of_three(
        out: np.ndarray,
        draws: int,
        rng: np.random.Generator,
        a: np.ndarray,
        b: np.ndarray,
        c: np.ndarray,
    ) -> None:
        for i in range(draws):
            out[i & _LAST] = draw(a[i & _LAST], b[i & _LAST], c[i & _LAST], rng)

    return (without, of_one, of_two, of_three)[n_parameters]


def every_distribution(*, quick: bool) -> Iterator[Ratio]:
    """Compare one by one, with parameters that take different ways."""
    draws, repeats = (20_000, 2) if quick else (1_000_000, 9)
    for law in LAWS:
        for parameters in law.parameters:
            yield _ratio(
                f"{law.name}{parameters if len(parameters) != 1 else f'({parameters[0]:g})'}",
                _filling(_loop(law.ours, len(parameters)), parameters, draws),
                _filling(law.theirs, parameters, draws),
                draws=draws,
                repeats=repeats,
            )
    yield from _orders(draws=draws, repeats=repeats)
    yield from _weights(draws=draws, repeats=repeats)
    yield from _from_python(draws=draws // 10, repeats=repeats)


def _ratio(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    draws: int,
    repeats: int,
    note: str = "",
) -> Ratio:
    ours(), theirs()  # compiles
    costs = in_turn({f"ours, {name}": ours, f"NumPy's, {name}": theirs}, repeats=repeats)
    ns = [1e9 * cost.cpu / draws for cost in costs.values()]
    return Ratio.faster(f"draws: {name}", ours=ns[0], theirs=ns[1], bar=BAR, unit=UNIT, note=note)


def _filling(
    fill: Callable[..., None], parameters: tuple[float, ...], draws: int
) -> Callable[[], object]:
    out, rng = np.empty(_LAST + 1), stream(1)
    arrays = [np.full(_LAST + 1, parameter) for parameter in parameters]
    return lambda: fill(out, draws, rng, *arrays)


@kernel
def _shuffle_often(values: np.ndarray, times: int, rng: np.random.Generator) -> None:
    for _ in range(times):
        shuffle(values, rng)


@kernel
def _numpy_shuffles_often(values: np.ndarray, times: int, rng: np.random.Generator) -> None:
    for _ in range(times):
        rng.shuffle(values)


def _orders(*, draws: int, repeats: int) -> Iterator[Ratio]:
    for n in (10, 10_000):
        values, rng, times = np.arange(n), stream(1), draws // n
        yield _ratio(
            f"shuffle {n:,}",
            lambda v=values, t=times, r=rng: _shuffle_often(v, t, r),
            lambda v=values, t=times, r=rng: _numpy_shuffles_often(v, t, r),
            draws=draws,
            repeats=repeats,
        )


@kernel
def _weigh_often(weights: np.ndarray, a: float, times: int, rng: np.random.Generator) -> None:
    for _ in range(times):
        draw_weights(weights, a, rng)


@kernel
def _numpy_weighs_often(
    weights: np.ndarray, a: float, times: int, rng: np.random.Generator
) -> None:
    for _ in range(times):
        for replica in range(weights.shape[0]):
            weights[replica, REAL] = rng.poisson(1.0)
            weights[replica, ONE] = rng.poisson(a)
            weights[replica, ZERO] = rng.poisson(a)


def _weights(*, draws: int, repeats: int) -> Iterator[Ratio]:
    weights, rng, times = np.zeros((10, 3), np.int32), stream(1), draws // 30
    for a in (0.3, 1.0):
        yield _ratio(
            f"Poisson weights of ten replicas, a={a:g}",
            lambda a=a: _weigh_often(weights, a, times, rng),
            lambda a=a: _numpy_weighs_often(weights, a, times, rng),
            draws=draws,
            repeats=repeats,
        )


def _from_python(*, draws: int, repeats: int) -> Iterator[Ratio]:
    """Compare what numba has not, or what we draw outside kernels, with arrays of NumPy."""
    rng: Any = stream(1)
    note = "NumPy's from Python, all in one call"
    for entries in ((3, 4, 5), (40, 30, 35), (400, 300, 350), (4000, 5000, 120), (40_000,) * 3):
        yield _ratio(
            f"hypergeometric{entries}",
            _filling(_loop(hypergeometric, 3), entries, draws),
            lambda e=entries: rng.hypergeometric(*e, size=draws),
            draws=draws,
            repeats=repeats,
            note=note,
        )
    yield _ratio(
        "uniforms",
        lambda: uniforms(0.25, 0.75, draws, rng),
        lambda: rng.uniform(0.25, 0.75, draws),
        draws=draws,
        repeats=repeats,
        note=note,
    )
    yield _ratio(
        "order",
        lambda: shuffled(draws, rng),
        lambda: rng.permutation(draws),
        draws=draws,
        repeats=repeats,
        note=note,
    )
