"""Published shares of the regret of uniform, and those found here."""

import pytest
from paper.studies.test_family import traces_of

from giro import UnknownName, simulate
from giro.paper.studies import wheel
from giro.simulation.metrics import final_regret


def test_a_record_has_the_share_of_the_regret_of_uniform() -> None:
    study = wheel.study(rounds=300, runs=2, seed=1, only=["statlog"])
    traces = traces_of(study)
    outcome = study.outcome(traces, True)
    (record,) = outcome.tables["finals"]
    uniform, linear = (final_regret(trace).mean for trace in traces)
    assert record["share"] == pytest.approx(100 * linear / uniform)
    assert record["more"] == pytest.approx(record["share"] - 19.0)
    assert uniform == pytest.approx(300 * 6 / 7, rel=0.1)
    outcome.show()


def test_figures_are_those_published_for_each_delta() -> None:
    figures = wheel.published(wheel.ROUNDS)
    assert [figure.share for figure in figures] == [0.95, 1.60, 4.65, 9.56, 49.63, 19.0, 19.0]
    wheels = [figure.problem.text for figure in figures[:5]]
    assert wheels == [f"wheel:delta={delta}" for delta in (0.5, 0.7, 0.9, 0.95, 0.99)]
    assert [figure.rounds for figure in figures] == [80_000] * 5 + [2_000, 43_500]


def test_unfinished_work_has_no_record() -> None:
    study = wheel.study(rounds=50, runs=1, seed=0, only=["0.99"])
    (experiment,) = study.experiments
    uniform, neural = (
        simulate(work.policy, work.problem, rounds=50, runs=1, seed=0, points=100)
        for work in experiment.work[:2]
    )
    assert study.outcome([uniform], False).tables == {"finals": [], "beside": []}
    assert study.outcome([neural], False).tables == {"finals": [], "beside": []}


def test_other_policies_play_the_wheel_beside_and_have_no_published_figure() -> None:
    study = wheel.study(rounds=40, runs=2, seed=0, only=["0.99"])
    (experiment,) = study.experiments
    works = [work for work in experiment.work if work.policy.name in {"uniform", "lin-post"}]
    traces = [simulate(w.policy, w.problem, rounds=40, runs=2, seed=0, points=100) for w in works]
    outcome = study.outcome(traces, False)
    assert outcome.tables["finals"] == []
    (record,) = outcome.tables["beside"]
    uniform, linear = (final_regret(trace).mean for trace in traces)
    assert record["policy"] == "lin-post"
    assert record["share"] == pytest.approx(100 * linear / uniform)
    assert "published" not in record
    outcome.show()


def test_words_choose_problems_and_unknown_ones_are_refused() -> None:
    study = wheel.study(rounds=10, runs=1, seed=0, only=["0.9"])
    assert len(study.experiments) == 3
    with pytest.raises(UnknownName, match="adult"):
        wheel.study(rounds=10, runs=1, seed=0, only=["adult"])
