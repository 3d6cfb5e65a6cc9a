"""What Kveton et al. (2019), Section 3.1, say of bootstrapping without pseudo rewards."""

import numpy as np
import pytest

from giro import Trace
from giro.paper.claims import judge
from giro.paper.studies import linear_regret as paper
from giro.simulation.metrics import estimate
from giro.simulation.simulate import run


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return list(run(paper.experiment(rounds=12, runs=1500, seed=7)))


@pytest.fixture(scope="module")
def smalls() -> list[paper.Small]:
    return list(paper.exact())


def test_every_bound_holds_exactly_in_the_first_rounds(smalls: list[paper.Small]) -> None:
    assert len(smalls) == 9
    verdicts = judge(paper.exact_claims(smalls))
    assert [verdict.word for verdict in verdicts] == ["holds"] * 3
    assert all((small.regret >= small.bound).all() for small in smalls)


def test_a_bound_that_is_too_high_is_reported_as_failing(smalls: list[paper.Small]) -> None:
    wrong = [small._replace(bound=3 * small.bound) for small in smalls]
    assert judge(paper.exact_claims(wrong))[0].word == "fails"


def test_simulated_regret_is_the_exact_one(traces: list[Trace], smalls: list[paper.Small]) -> None:
    for trace in traces:
        small = paper.exact_of(trace, smalls)
        if small is None:
            assert trace.setting.policy == paper.GIRO
            continue
        rows = list(paper.exact_rows(trace, small))
        assert [row["round"] for row in rows] == list(range(1, 13))
        last = rows[-1]
        assert abs(last["simulated"] - last["exact"]) < 5 * last["simulated_se"]


def test_bounds_are_zero_until_they_say_something(traces: list[Trace]) -> None:
    trace = next(trace for trace in traces if paper.pulls_of(trace) == 3)
    bounds = paper.bounds(trace)
    assert bounds is not None
    assert (bounds[trace.checkpoints <= 3] == 0.0).all()
    assert (np.diff(bounds[trace.checkpoints >= 3]) > 0).all()
    assert paper.final_row(trace)["bound"] == bounds[-1]


@pytest.mark.slow
def test_both_bounds_hold_at_full_scale() -> None:
    traces = list(run(paper.experiment(seed=2019)))
    verdicts = {j.number: j.word for j in judge(paper.claims(traces))}
    assert [verdicts[f"k = {k}"] for k in (1, 2, 3)] == ["holds"] * 3
    assert verdicts["giro"] == "holds"
    plain = [t for t in traces if paper.pulls_of(t) == 1]
    for trace in plain:
        giro = next(
            t
            for t in traces
            if t.setting.policy == paper.GIRO and t.setting.problem == trace.setting.problem
        )
        assert estimate(trace.regret[:, -1] - giro.regret[:, -1]).low > 0
