"""The engine cuda fits linear models by stochastic gradient, as a plain loop does."""

from typing import Any

import numpy as np
import pytest
from kernels.cuda.emulated import COMPILER, Emulated
from kernels.cuda.twin import SgdGiro

from giro import Policy
from giro.problems.classification import Classification
from giro.seeds import stream
from giro.simulation.engines._cuda_play import lay, play_rounds, put_rows
from giro.simulation.play import Work
from giro.simulation.simulate import make_setting

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no g++ to emulate with")
ROUNDS, RUN = 24, 3  # samples fill a bundle or two, and a part of the next


class Changed(Emulated):
    """A device whose kernels have other lines in places, and fewer warps."""

    def __init__(self, *changes: tuple[str, str], builders: int = 1) -> None:
        super().__init__()
        self.changes, self.builders = changes, builders

    def compile(self, source: str):
        if "fit_arms(" in source:
            for old, new in (*self.changes, ("BUILDERS 6", f"BUILDERS {self.builders}")):
                assert source.count(old) == 1
                source = source.replace(old, new)
        return super().compile(source)

    def launch(self, kernels, step, blocks, shared, game, *rounds):
        if step.function == "fit_arms":
            step = step._replace(threads=32 * (1 + self.builders))
        super().launch(kernels, step, blocks, shared, game, *rounds)


def some_work(stretch: float) -> Work:
    """Return a game of two arms on rows of which few are long."""
    rng = stream(5)
    x = rng.normal(size=(60, 4)) * np.where(rng.random(60) < 0.2, stretch, 1.0)[:, None]
    problem = Classification.from_arrays(x, (x[:, 0] > 0).astype(int))
    policy = Policy.parse("contextual-giro:a=1,model=linear-sgd")
    return Work(policy, problem, make_setting(policy, problem, rounds=ROUNDS, seed=1, points=4))


def theta_of(device: Emulated, work: Work):
    """Return the coefficients [arm, column] of the last round, and the arms that were pulled."""
    problem: Any = work.problem
    table = lay(device, work, [RUN], put_rows(device, problem))
    play_rounds(device, table, 0, ROUNDS)
    columns = problem.rows.contexts.shape[1] + 1
    return device.get(table.arrays["theta"])[0, :, :columns], table


def plain_theta(work: Work, table, *, steepest: float = np.inf):
    """Return the coefficients by a loop that takes one step after the other."""
    problem: Any = work.problem
    twin, rows = SgdGiro(work, RUN, steepest=steepest), problem.rows
    for arm, row in zip(table.arrays["arms"][0].astype(int), table.order[0], strict=True):
        x = np.append(rows.contexts[row].astype(np.float32), 1.0)
        twin.values(x)
        twin.learn(x, arm, float(rows.labels[row] == arm))
    return twin.theta


def gap(theta, other) -> float:
    return float(np.abs(theta - other).max() / np.abs(other).max())


def test_steps_of_batches_are_those_of_a_loop_and_a_wrong_product_is_noticed() -> None:
    work = some_work(stretch=1.0)
    theta, table = theta_of(Changed(), work)
    assert gap(theta, plain_theta(work, table)) < 1e-5
    wrong, table = theta_of(Changed(("= rate * sums", "= 1.1f * rate * sums")), work)
    assert gap(wrong, plain_theta(work, table)) > 1e-4


def test_a_fit_is_the_same_however_many_warps_make_bundles() -> None:
    work = some_work(stretch=1.0)
    (one, _), (three, _) = (theta_of(Changed(builders=n), work) for n in (1, 3))
    assert (one == three).all()


@pytest.mark.parametrize("largest", ["16.0f", "0.5f"])
def test_batches_of_long_rows_are_those_of_a_loop_at_once_or_step_by_step(largest: str) -> None:
    """Steps on the longest rows make their errors larger."""
    work = some_work(stretch=8.0)
    bound = ("#define LARGEST_FACTOR 16.0f", f"#define LARGEST_FACTOR {largest}")
    theta, table = theta_of(Changed(bound), work)
    assert gap(theta, plain_theta(work, table)) < 1e-5


def test_errors_are_cut_as_in_a_loop() -> None:
    work = some_work(stretch=1.0)
    cutting = ("#define STEEPEST 1e12f", "#define STEEPEST 0.4f")
    theta, table = theta_of(Changed(cutting), work)
    assert gap(theta, plain_theta(work, table, steepest=0.4)) < 1e-5
    assert gap(theta, plain_theta(work, table)) > 1e-3
