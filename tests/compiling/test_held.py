"""States that are handed to numba once."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np

from giro import Policy
from giro.compiling import borrowed, kernel
from giro.compiling.cache import _has_foreign_class
from giro.compiling.held import hold
from giro.offer import Offer, Shape, offer_of
from giro.policy import choose, start
from giro.seeds import NumberedStreams, stream
from giro.standardising import NO_MOMENTS


class Tally(NamedTuple):
    counts: np.ndarray  # [arm]
    step: int


@kernel
def draw(held, n_arms: int) -> float:
    state = borrowed(held.state)
    arm = int(held.choosing.random() * n_arms)
    state.counts[arm] += state.step
    return held.learning.random()


def test_a_held_state_shares_its_arrays_and_its_generators() -> None:
    tally, first, second = Tally(np.zeros(3), 2), stream(1), stream(2)
    held = hold(tally, NO_MOMENTS, first, second)
    twin, other = stream(1), stream(2)
    for _ in range(10):
        before = tally.counts.copy()
        assert draw(held, 3) == other.random()
        assert (tally.counts - before)[int(twin.random() * 3)] == 2.0
    assert first.random() == twin.random()


def test_a_held_generator_can_be_sent_to_another_place() -> None:
    policy, streams = Policy.parse("uniform"), NumberedStreams(4)
    state = start(policy, Shape(5, 0, 0, 1, 1), stream(0))
    held = hold(state, NO_MOMENTS, streams.generator, stream(0))

    @kernel
    def chosen(held, offer: Offer) -> int:
        return choose(borrowed(held.state), offer, held.choosing)

    expected = [int(5 * streams.at(number).random()) for number in range(20)]
    offer = offer_of(5)
    assert [chosen(held, offer) for number in range(20) if streams.at(number)] == expected


def test_what_is_held_lives_as_long_as_its_holder() -> None:
    held = hold(Tally(np.zeros(1000), 1), NO_MOMENTS, stream(1), stream(2))  # nobody else has them
    others = [np.ones(1000) for _ in range(50)]
    for _ in range(100):
        draw(held, 1000)
    assert sum(array.sum() for array in others) == 50_000


def test_held_states_of_foreign_classes_are_not_kept_on_disk() -> None:
    mine = hold(Tally(np.zeros(1), 1), NO_MOMENTS, stream(1), stream(2))
    theirs = hold(
        start(Policy.parse("ucb1"), Shape(2, 0, 0, 1, 1), stream(0)),
        NO_MOMENTS,
        stream(1),
        stream(2),
    )
    assert _has_foreign_class(mine._type)
    assert not _has_foreign_class(theirs._type)


def test_importing_works_where_compiling_is_switched_off() -> None:
    code = "import giro; print(giro.Bandit(['a', 'b'], 'ucb1').decide().arm in 'ab')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True\n"
