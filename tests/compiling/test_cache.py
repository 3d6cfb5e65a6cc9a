"""Compiled kernels on disk: kept once, never mixed up, and trusted only if they are ours."""

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from giro.compiling import cache as kernel_cache
from giro.compiling.cache import _Files


def test_two_processes_that_save_at_once_do_not_mix_up_their_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "_is_trusted", os.path.exists)
    first, second, later = (_Files(str(tmp_path), "play", "stamp") for _ in range(3))
    write = first._save_data

    def write_last(name: str, data: str) -> None:
        second._load_index = dict  # type: ignore[method-assign]  # read when there was nothing yet
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


READ = """
    import sys
    read = set()
    sys.addaudithook(lambda event, given: read.add(str(given[0])) if event == "open" else None)
    import giro
    giro.simulate("uniform", "bernoulli", rounds=50, runs=2)
    print(len([path for path in read if "/play.play-" in path and path.endswith(".nbi")]))
"""


def test_what_others_play_is_not_read(tmp_path: Path) -> None:
    in_new_process(SIMULATE.replace("bernoulli", "beta:v=4"), tmp_path)
    in_new_process(SIMULATE, tmp_path)
    assert len(loops_in(tmp_path)) == 2
    assert in_new_process(READ, tmp_path).strip() == "1"


def test_everything_works_where_no_cache_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    hits_and_misses = in_new_process(SIMULATE, file / "below").splitlines()[1]
    assert hits_and_misses.startswith("0 ")


DOT = """
    import sys
    import numpy as np
    from giro.kernels.regression.linear_algebra import dot
    print("ready", flush=True)
    sys.stdin.readline()
    dot(np.ones(3), np.ones(3))
    print(sum(dot.stats.cache_hits.values()), sum(dot.stats.cache_misses.values()))
"""


def test_of_four_cold_processes_one_compiles(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(DOT)],
            env=os.environ | {"GIRO_CACHE_DIR": str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.communicate()[0] for process in processes) == ["0 1\n", *["1 0\n"] * 3]


def test_kernels_for_another_processor_are_told_of(tmp_path: Path) -> None:
    def run(**more: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(DOT)],
            env=os.environ | {"GIRO_CACHE_DIR": str(tmp_path)} | more,
            input="\n",
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()[-1], done.stderr

    assert run(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == ("0 1", "")
    result, complaint = run()
    assert result == "0 1"
    assert "kernels are kept for another processor (generic)" in complaint
    assert run() == ("1 0", "")


# -- other users ---------------------------------------------------------------------------------

NOBODY, SOMEBODY = 65534, 65533

AS_NOBODY = """
    import os
    import numpy as np
    from giro.compiling import kernel
    from giro.kernels.regression.linear_algebra import dot
    kernel(lambda x: x + 1)(1)  # imports what compiling needs, while all files can be read
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    dot(np.ones(3), np.ones(3))
    print(sum(dot.stats.cache_hits.values()), sum(dot.stats.cache_misses.values()))
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """Yields a folder that other users can reach."""
    if getattr(os, "getuid", lambda: 1)() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def run_as_nobody(cache: Path) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AS_NOBODY)],
        env=os.environ | {"GIRO_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


def filled(cache: Path) -> list[Path]:
    """Compile into a folder and return all that is there."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DOT)],
        env=os.environ | {"GIRO_CACHE_DIR": str(cache)},
        input="\n",
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "0 1"
    return [cache, *cache.glob("**/*")]


def test_what_an_image_brings_is_loaded_by_any_user(shared: Path) -> None:
    for path in filled(shared):
        path.chmod(path.stat().st_mode & ~0o222)
    assert run_as_nobody(shared) == ("1 0", "")


def test_what_another_user_put_into_a_shared_place_is_not_run(shared: Path) -> None:
    for path in filled(shared):
        os.chown(path, SOMEBODY, SOMEBODY)
    result, complaint = run_as_nobody(shared)
    assert result == "0 1"
    assert "belongs to another user" in complaint


def test_a_file_of_another_user_is_not_run(shared: Path) -> None:
    paths = filled(shared)
    for path in paths:
        os.chown(path, NOBODY, NOBODY)
    (index,) = (path for path in paths if path.suffix == ".nbi")
    os.chown(index, SOMEBODY, SOMEBODY)
    result, complaint = run_as_nobody(shared)
    assert result == "0 1"
    assert f"{index} belongs to another user" in complaint


def test_why_nothing_can_be_kept_is_told(shared: Path) -> None:
    result, complaint = run_as_nobody(shared)
    assert result == "0 1"
    assert f"{shared} cannot be used (Permission denied)" in complaint


def test_what_cannot_be_kept_is_warned_of_and_works(tmp_path: Path) -> None:
    code = "import giro; print(giro.simulate('uniform', 'bernoulli', rounds=5, runs=1).regret.size)"
    unoptimised = {"NUMBA_OPT": "0", "GIRO_CACHE_DIR": str(tmp_path)}  # keeps addresses in code
    call = [sys.executable, "-W", "always", "-c", code]
    done = subprocess.run(
        call, env=os.environ | unoptimised, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 0
    assert "Cannot cache compiled function" in done.stderr
