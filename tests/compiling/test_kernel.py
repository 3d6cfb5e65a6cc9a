"""Kernels, dispatch on the state's class, and the cache on disk."""

import math
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from llvmlite import binding

from giro import BadParameter, simulate
from giro.compiling import bind, compilers, dispatched, inlined, is_kernel, kernel, plain
from giro.compiling import cache as kernel_cache
from giro.compiling.cache import _Files, package_digest
from giro.simulation.play import play


class Doubling(NamedTuple):
    value: float


class Halving(NamedTuple):
    value: float


@dispatched
def changed(state: NamedTuple) -> float:
    """Return the value, changed."""
    raise TypeError("replaced by dispatch")


@kernel
def _doubled(state: Doubling) -> float:
    return state.value * 2


@kernel
def _halved(state: Halving) -> float:
    return state.value / 2


@kernel
def changed_twice(state: NamedTuple) -> float:
    return changed(state) + changed(state)


def test_a_kernel_keeps_its_python_body() -> None:
    assert is_kernel(_doubled)
    assert not is_kernel(plain(_doubled))
    assert _doubled(Doubling(3.0)) == plain(_doubled)(Doubling(3.0)) == 6.0


def test_a_dispatched_name_calls_what_is_bound_to_the_class_compiled_or_not() -> None:
    bind(changed, Doubling, _doubled)
    bind(changed, Halving, _halved)
    for function in (changed_twice, plain(changed_twice)):
        assert function(Doubling(3.0)) == 12.0
        assert function(Halving(3.0)) == 3.0


# -- kernels that call each other ----------------------------------------------------------------


@kernel
def _root(x: float) -> float:
    return math.sqrt(x)


@kernel
def _root_inside(x: float) -> float:
    return _root(x)


def test_a_kernel_called_from_python_and_from_kernels_is_the_same() -> None:
    for first, second in ((_root, _root_inside), (_root_inside, _root)):  # whichever comes first
        for x in (2.0, 3, np.float32(0.1)):
            assert first(x) == second(x)
    assert _root_inside(2.0) == math.sqrt(2.0)


def test_what_only_kernels_call_has_no_way_in_from_python() -> None:
    @kernel
    def inner(x: float) -> float:
        return x + 1.0

    @kernel
    def outer(x: float) -> float:
        return inner(x) * 2.0

    assert outer(1.0) == 4.0
    assert not inner.overloads  # the form that Python calls was not needed
    assert inner(1.0) == 2.0
    assert len(inner.overloads) == 1
    assert outer(2.0) == 6.0


def test_no_machine_code_is_made_of_what_only_kernels_call() -> None:
    def defined(results: Iterable[Any]) -> int:
        return sum(len(list(result.library.get_defined_functions())) for result in results)

    assert _root_inside(2.0) == math.sqrt(2.0)
    assert defined(_root_inside.overloads.values())
    assert not defined(_root.get_overload.__self__.overloads.values())


@kernel
def _not_negative(x: float) -> float:
    if x < 0.0:
        raise ValueError("negative", x)  # needs Python objects of the called kernel
    return x


@kernel
def _sum_of_two(x: float, y: float) -> float:
    return _not_negative(x) + _not_negative(y)


@kernel
def scaled(x: float, times: int) -> float:
    return x * times


@kernel
def scaled_in_three_ways(x: float, times: int) -> float:
    return scaled(x, 2) + scaled(x, 3) + scaled(x, times)


def test_a_kernel_is_compiled_once_for_all_constants() -> None:
    assert scaled_in_three_ways(1.0, 4) == 9.0
    assert len(scaled.get_overload.__self__.overloads) == 1


def test_options_of_a_compilation_are_those_of_numba() -> None:
    flags = compilers.Flags()
    flags.nrt, flags.error_model = True, "numpy"
    assert compilers._Flags(flags).values() == flags.values()
    assert compilers._Flags(flags) == flags
    assert compilers._Flags(flags).get_mangle_string() == flags.get_mangle_string()


def test_who_listens_to_llvm_is_told_again_after_compiling() -> None:
    lock = binding.ffi.lib._lock
    before = list(lock._cblist)
    assert kernel(lambda x: x + 1)(1) == 2
    assert lock._cblist == before != []


def test_errors_of_kernels_that_kernels_call_tell_what_came() -> None:
    assert _sum_of_two(1.0, 2.0) == 3.0
    with pytest.raises(ValueError, match=re.escape("('negative', -0.5)")):
        _sum_of_two(1.0, -0.5)


@kernel
def _factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * _factorial(n - 1)


@kernel
def _factorial_inside(n: int) -> int:
    return _factorial(n) + _factorial(n - 1)


def test_a_kernel_may_call_itself() -> None:
    assert _factorial_inside(5) == 144  # first from a kernel
    assert _factorial(10) == math.factorial(10)


class Total(NamedTuple):
    values: list[float] | np.ndarray


@inlined
def added_up(state: Total, factor: float) -> float:
    total = 0.0
    for each in state.values:
        total += factor * each
    return total


@kernel
def _added_up_twice(state: Total) -> float:
    return added_up(state, 1.0) + added_up(state, 1.0)


def test_inlined_functions_are_python_in_python_and_compiled_in_kernels() -> None:
    assert not is_kernel(added_up)
    assert (
        added_up(Total([Fraction(1, 3), Fraction(2, 3)]), Fraction(2)) == 2
    )  # of no kernel's type
    state = Total(np.array([0.1, 0.2, 0.3]))
    assert _added_up_twice(state) == plain(_added_up_twice)(state) == 2 * added_up(state, 1.0)


def test_classes_of_one_name_and_fields_are_kept_apart() -> None:
    # numba tells named tuples apart by name and fields, and takes one of these for the other
    makers = [lambda v: v + 1.0, lambda v: v - 1.0]
    results = []
    for maker in makers:
        state, function = _alike(kernel(maker))
        bind(changed, state, function)
        results.append(changed_twice(state(10.0)))
    assert results == [22.0, 18.0]


def _alike(change):  # type: ignore[no-untyped-def]
    class State(NamedTuple):
        value: float

    @kernel
    def function(state: State) -> float:
        return change(state.value)

    return State, function


def test_policies_with_states_that_look_alike_do_not_play_as_each_other() -> None:
    regret = [
        simulate(policy, "bernoulli", rounds=300, runs=2, seed=1).regret[:, -1].tolist()
        for policy in ("ucb1", "greedy", "ucb1")
    ]
    assert regret[0] == regret[2] != regret[1]


def test_a_class_cannot_be_bound_twice() -> None:
    bind(changed, Doubling, _doubled)
    with pytest.raises(BadParameter, match="a state class of its own"):
        bind(changed, Doubling, _halved)


def test_a_class_that_is_not_bound_is_refused() -> None:
    class Unbound(NamedTuple):
        value: float

    with pytest.raises(BadParameter, match="'changed' is not bound for states of"):
        changed(Unbound(1.0))


def test_another_source_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_PACKAGE", tmp_path)
    digests = []
    for name, source in [("a.py", "x = 1"), ("a.py", "x = 2"), ("b/c.py", "x = 2")]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
        digests.append(package_digest.__wrapped__())
    assert len(set(digests)) == 3


def test_two_processes_that_save_at_once_do_not_mix_up_their_code(tmp_path: Path) -> None:
    first, second, later = (_Files(str(tmp_path), "play", "stamp") for _ in range(3))
    write = first._save_data

    def write_last(name: str, data: str) -> None:
        second._load_index = dict  # read when there was nothing yet
        second.save("two", "code of two")
        write(name, data)

    first._save_data = write_last
    first.save("one", "code of one")
    assert later.load("one") in (None, "code of one")
    assert later.load("two") == "code of two"


def in_new_process(source: str, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env=os.environ | {"GIRO_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SIMULATE = """
    import giro
    from giro.simulation.play import play
    print(giro.simulate("uniform", "bernoulli", rounds=50, runs=2, seed=1).regret[:, -1].tolist())
    print(sum(play.stats.cache_hits.values()), sum(play.stats.cache_misses.values()))
"""

FOREIGN = """
    from dataclasses import dataclass
    from typing import NamedTuple
    import numpy as np
    import giro
    from giro.compiling import kernel
    from giro.simulation.play import play

    class Mine(NamedTuple):
        pulls: np.ndarray  # a single array, which numba lays out in another way than several

    @kernel
    def choose(state, offer, rng):
        return offer.arms[rng.integers(0, offer.arms.size)]

    @kernel
    def learn(state, case, arm, reward, rng):
        state.pulls[arm] += 1

    @dataclass(frozen=True)
    class AnyArm(giro.Policy, name="any-arm"):
        choose = staticmethod(choose)
        learn = staticmethod(learn)

        def start(self, shape, rng):
            return Mine(np.zeros(shape.n_arms, np.int64))

    giro.simulate("any-arm", "bernoulli", rounds=50, runs=2)
"""


def loops_in(cache: Path) -> list[Path]:
    return list(cache.glob("*/play.play-*.nbc"))


def test_the_loop_is_compiled_once_and_loaded_from_then_on(tmp_path: Path) -> None:
    first, again = (in_new_process(SIMULATE, tmp_path).splitlines() for _ in range(2))
    assert first[0] == again[0]
    assert (first[1], again[1]) == ("0 1", "1 0")
    assert len(loops_in(tmp_path)) == 1


def test_loops_with_classes_from_elsewhere_are_not_kept(tmp_path: Path) -> None:
    in_new_process(FOREIGN, tmp_path)
    assert loops_in(tmp_path) == []


def test_everything_works_where_no_cache_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    hits_and_misses = in_new_process(SIMULATE, file / "below").splitlines()[1]
    assert hits_and_misses.startswith("0 ")


def test_a_cache_of_somebody_else_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIRO_CACHE_DIR", str(tmp_path))
    assert kernel_cache._folder.__wrapped__() == tmp_path / package_digest()
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert kernel_cache._folder.__wrapped__() is None


def test_kernels_of_versions_long_unused_are_deleted(tmp_path: Path) -> None:
    for name, age in (("old", 40), ("new", 1)):
        (tmp_path / name).mkdir()
        moment = (tmp_path / name).stat().st_mtime - age * 24 * 3600
        os.utime(tmp_path / name, (moment, moment))
    kernel_cache._forget_old(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_the_loop_releases_the_interpreter_and_divides_as_numpy_does() -> None:
    assert play.targetoptions["nogil"]
    assert np.isinf(kernel(lambda x: 1.0 / x)(0.0))


def test_what_cannot_be_kept_is_warned_of_and_works(tmp_path: Path) -> None:
    code = "import giro; print(giro.simulate('uniform', 'bernoulli', rounds=5, runs=1).regret.size)"
    unoptimised = {"NUMBA_OPT": "0", "GIRO_CACHE_DIR": str(tmp_path)}  # keeps addresses in code
    call = [sys.executable, "-W", "always", "-c", code]
    done = subprocess.run(
        call, env=os.environ | unoptimised, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 0
    assert "Cannot cache compiled function" in done.stderr
