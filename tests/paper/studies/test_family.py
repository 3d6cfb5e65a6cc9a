"""The family of policies, beside the limit of their regret."""

import numpy as np
import pytest

from giro import Problem, Trace, UnknownName
from giro.paper.studies import family
from giro.paper.study import Study
from giro.problem import start
from giro.seeds import stream
from giro.simulation.limit import lai_robbins
from giro.simulation.simulate import run


def test_problems_differ_in_rewards_alone_and_one_arm_is_best() -> None:
    named = family.problems()
    assert len(named) == 10
    for name, problem in named.items():
        means = start(problem, stream(0)).means
        assert means.size == int(name.split(", ")[-1].split()[0])
        assert means == pytest.approx(family.family_means(means.size), abs=1e-9)
        assert np.sum(means > means.max() - 0.05) == 1
        assert Problem.parse(problem.text) == problem


def traces_of(study: Study) -> list[Trace]:
    return [trace for experiment in study.experiments for trace in run(experiment)]


def test_a_record_has_regret_slope_and_limit() -> None:
    study = family.study(rounds=1_000, runs=4, seed=1, only=["bernoulli"], policies=["uniform"])
    traces = traces_of(study)
    outcome = study.outcome(traces, True)
    record, of_many = outcome.tables["finals"]
    gap = 0.75 - np.mean(family.family_means(10))
    assert record["problem"] == "bernoulli, 10 arms"
    assert of_many["problem"] == "bernoulli, 100 arms"
    assert record["regret"] == pytest.approx(1_000 * gap, rel=0.1)
    assert record["early_regret"] == pytest.approx(100 * gap, rel=0.3)
    limit = lai_robbins(family.problems()["bernoulli, 10 arms"])
    assert record["limit"] == pytest.approx(limit)
    slope = (record["regret"] - record["early_regret"]) / np.log(10)
    assert record["over_limit"] == pytest.approx(slope / record["limit"])
    assert list(outcome.figures()) == ["regret"]
    outcome.show()


def test_words_choose_problems_and_unknown_ones_are_refused() -> None:
    study = family.study(rounds=10, runs=1, seed=0, only=["beta"], policies=[])
    assert len(study.experiments[0].problems) == 4
    assert study.experiments[0].policies == list(family.POLICIES)
    with pytest.raises(UnknownName, match="poisson"):
        family.study(rounds=10, runs=1, seed=0, only=["poisson"], policies=[])
