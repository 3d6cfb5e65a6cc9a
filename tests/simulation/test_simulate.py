"""Many runs of one policy on one problem."""

from typing import Any

import numpy as np
import pytest

from giro import BadParameter, UnknownName, simulate
from giro.policies.ucb1 import Ucb1
from giro.problems.bernoulli import Bernoulli
from giro.simulation.chunks import Work
from giro.simulation.engines import Threads
from giro.simulation.experiment import make_setting


def test_objects_and_their_text_give_the_same_numbers() -> None:
    first = simulate(Ucb1(), Bernoulli(means=(0.7, 0.4)), rounds=100, runs=4, seed=2)
    second = simulate("ucb1", "bernoulli:means=[0.7,0.4]", rounds=100, runs=4, seed=2)
    assert first.setting == second.setting
    assert first.regret.tolist() == second.regret.tolist()


def test_a_run_does_not_depend_on_how_many_others_there_are() -> None:
    few, many = (simulate("ucb1", "beta", rounds=100, runs=n, seed=2) for n in (2, 9))
    assert few.regret.tolist() == many.regret[:2].tolist()


def test_seeds_and_runs_differ() -> None:
    first, second = (simulate("ucb1", "beta", rounds=100, runs=2, seed=s) for s in (0, 1))
    ends = [*first.regret[:, -1], *second.regret[:, -1]]
    assert len(set(ends)) == 4


def test_curves_are_sums_over_rounds_and_pulls_are_counted() -> None:
    trace = simulate("uniform", "bernoulli:means=[1,0]", rounds=50, runs=3, points=50)
    assert trace.checkpoints.tolist() == list(range(1, 51))
    assert trace.pulls.sum(axis=1).tolist() == [50] * 3
    assert trace.regret[:, -1].tolist() == trace.pulls[:, 1].tolist()
    assert trace.reward[:, -1].tolist() == trace.best[:, -1].tolist() == trace.pulls[:, 0].tolist()
    assert np.array_equal(trace.regret + trace.reward, np.tile(trace.checkpoints, (3, 1)))


def test_the_number_of_checkpoints_does_not_change_the_numbers() -> None:
    coarse, fine = (simulate("ucb1", "beta", rounds=99, runs=2, points=p) for p in (1, 99))
    assert coarse.regret[:, -1].tolist() == fine.regret[:, -1].tolist()


def test_progress_is_told_of_every_run() -> None:
    told: list[int] = []
    simulate("ucb1", "bernoulli", rounds=10, runs=7, progress=told.append)
    assert sum(told) == 7


def test_integers_of_numpy_are_welcome() -> None:
    trace = simulate("ucb1", "bernoulli", rounds=np.int64(20), runs=np.int32(2), seed=np.int64(3))
    assert type(trace.setting.rounds) is int


def test_closing_the_iterator_early_is_no_error() -> None:
    setting = make_setting("ucb1", "bernoulli", rounds=100, seed=0)
    iterator = Threads(2).finished(Work(Ucb1(), Bernoulli(), setting), range(1000))
    assert next(iterator).runs.size == 1
    iterator.close()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rounds": 0}, "a whole number rounds >= 1, got rounds=0"),
        ({"rounds": 1.5}, "a whole number rounds >= 1, got rounds=1.5"),
        ({"rounds": "many"}, "a whole number rounds >= 1, got rounds='many'"),
        ({"runs": 0}, "a whole number runs >= 1, got runs=0"),
        ({"runs": 2.5}, "a whole number runs >= 1, got runs=2.5"),
        ({"seed": -1}, "a whole number seed >= 0, got seed=-1"),
        ({"seed": None}, "a whole number seed >= 0, got seed=None"),
        ({"jobs": 0}, "jobs is at least 1, got 0"),
        ({"points": 0}, "a whole number points >= 1"),
        ({"spacing": "odd"}, "spacing is even or log"),
        ({"policy": 3}, "a policy or its text is wanted, got 3"),
        ({"problem": None}, "a problem or its text is wanted, got None"),
    ],
)
def test_what_cannot_be_simulated_is_refused(changes: dict[str, Any], complaint: str) -> None:
    wanted: dict[str, Any] = {"policy": "ucb1", "problem": "bernoulli", "rounds": 10, "runs": 2}
    with pytest.raises(BadParameter) as refusal:
        simulate(**(wanted | changes))
    assert complaint in str(refusal.value)


def test_unknown_names_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ucb1'"):
        simulate("ucb", "bernoulli", rounds=10)
    with pytest.raises(UnknownName, match="did you mean 'bernoulli'"):
        simulate("ucb1", "bernouli", rounds=10)
