"""A claim as a test of numbers, and how regret grows."""

import math

import numpy as np
import pytest
from simulation.traces import small_trace

from giro import BadParameter, Trace, simulate
from giro.paper.claims import (
    Claim,
    Comparison,
    Verdict,
    beats,
    finding_records,
    grows_linearly,
    grows_logarithmically,
    judge,
    log_fit_gains,
    size_of_family,
    verdict_record,
)
from giro.seeds import stream
from giro.simulation.metrics import estimate
from giro.simulation.trace import Setting


def comparison(gains: list[float] | np.ndarray) -> Comparison:
    values = np.asarray(gains, float)
    return Comparison("this against that", "a problem", "regret", estimate(values), values.size)


GOOD, BAD = comparison([9.0, 10.0, 11.0, 10.0]), comparison([-9.0, -10.0, -11.0, -10.0])
EVEN = comparison([1.0, -1.0, 2.0, -1.5])


@pytest.mark.parametrize(
    ("comparisons", "verdict"),
    [
        ([GOOD], "holds"),
        ([BAD], "fails"),
        ([EVEN], "undecided"),
        ([GOOD, GOOD], "holds"),
        ([GOOD, EVEN], "undecided"),
        ([GOOD, EVEN, BAD], "fails"),
    ],
)
def test_a_claim_needs_all_its_comparisons(comparisons: list[Comparison], verdict: str) -> None:
    (judged,) = judge([Claim("1", "all is well", comparisons)])
    assert judged.word == verdict


def test_a_wrong_claim_about_policies_is_reported_as_failing() -> None:
    ucb1, thompson = (
        simulate(policy, "bernoulli", rounds=1000, runs=30) for policy in ("ucb1", "thompson")
    )
    wrong = Claim("1", "UCB1 beats Thompson sampling", [beats(ucb1, thompson)])
    right = Claim("2", "Thompson sampling beats UCB1", [beats(thompson, ucb1)])
    assert [verdict.word for verdict in judge([wrong, right])] == ["fails", "holds"]


def test_a_claim_about_nothing_is_undecided() -> None:
    """Which of two tied arms UCB1 pulls first cannot matter."""
    first, second = (
        simulate(policy, "bernoulli", rounds=500, runs=30) for policy in ("ucb1", "ucb1:ties=fixed")
    )
    claim = Claim("1", "a fixed order of ties is better", [beats(second, first)])
    assert judge([claim])[0].word == "undecided"


def test_the_gain_is_the_regret_saved_on_the_same_runs() -> None:
    winner, loser = small_trace([[1, 2], [3, 6]], policy="ucb1"), small_trace([[1, 5], [3, 7]])
    found = beats(winner, loser)
    assert (found.gain.mean, found.runs, found.unit) == (2.0, 2, "regret")
    assert found.what == "ucb1 against ucb1"


def test_the_p_value_is_students_by_hand() -> None:
    """With gains 1 and 3: mean 2, standard error 1, t = 2 with one degree of freedom."""
    (verdict,) = judge([Claim("1", "", [comparison([1.0, 3.0])])])
    cauchy = 1 - 2 * math.atan(2.0) / math.pi
    assert verdict.findings[0].p_value == pytest.approx(cauchy)


def test_the_level_is_shared_by_all_comparisons_of_all_claims() -> None:
    p_value = judge([Claim("1", "", [GOOD])])[0].findings[0].p_value
    claims = [Claim(str(i), "", [GOOD, EVEN]) for i in range(5)]
    assert size_of_family(claims) == 10
    for level, verdict in ((10.1 * p_value, "holds"), (9.9 * p_value, "undecided")):
        assert judge(claims, level=level)[0].findings[0].word == verdict
        assert judge(claims[:1], level=level, family=10)[0].findings[0].word == verdict


def test_a_true_null_is_rarely_decided(seed: int) -> None:
    """Of 2,000 families of ten true nulls at 5 %, more than 160 wrong ones have odds of 1e-8."""
    draws = stream(seed, 11).normal(size=(2_000, 10, 20))
    wrong = 0
    for family in draws:
        verdicts = judge([Claim("1", "", [comparison(gains) for gains in family])])
        wrong += any(finding.word != "undecided" for finding in verdicts[0].findings)
    assert 30 < wrong < 160


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [([2.0], "undecided"), ([2.0, 2.0], "holds"), ([-2.0, -2.0], "fails"), ([0, 0], "undecided")],
)
def test_gains_without_an_error_are_certain_unless_there_is_only_one(
    gains: list[float], verdict: str
) -> None:
    assert judge([Claim("1", "", [comparison(gains)])])[0].word == verdict


def test_the_weakest_comparison_stands_for_the_claim() -> None:
    (verdict,) = judge([Claim("7", "all is well", [GOOD, EVEN, GOOD])])
    assert verdict.weakest.comparison is EVEN
    shown = verdict_record(verdict)
    assert shown["number"] == "7"
    assert (shown["claim"], shown["verdict"]) == ("all is well", "undecided")
    assert (shown["estimate"], shown["se"]) == EVEN.gain[:2]
    assert [row["verdict"] for row in finding_records(verdict)] == ["holds", "undecided", "holds"]


def test_the_surest_finding_against_a_claim_is_its_weakest_whatever_its_runs() -> None:
    """Thirty standard errors from two runs are less sure than ten from twenty."""
    two = comparison([-31.0, -29.0])
    twenty = comparison(-10.0 / np.sqrt(20) + np.tile([-1.0, 1.0], 10) / np.sqrt(20 / 19))
    (verdict,) = judge([Claim("1", "", [two, twenty])])
    assert verdict.weakest.comparison is twenty
    p_two, p_twenty = (finding.p_value for finding in verdict.findings)
    assert p_two > 0.01
    assert p_twenty < 1e-6


def test_a_claim_that_compares_nothing_is_refused() -> None:
    with pytest.raises(BadParameter, match="claim 3 compares nothing"):
        judge([Claim("3", "nothing", [])])


# -- how regret grows ---------------------------------------------------------------------------


SETTING = Setting("ucb1", "bernoulli", rounds=1000, seed=0, points=100)


def growing(curve: np.ndarray, *, runs: int = 20, noise: float = 0.1) -> Trace:
    """Return a trace whose runs are this curve with random steps added."""
    steps = stream(3).normal(size=(runs, curve.size)).cumsum(axis=1)
    zeros = np.zeros((runs, curve.size))
    regret = curve + noise * steps
    return Trace(SETTING, np.arange(runs), regret, zeros, zeros, zeros, np.ones(runs))


LOG = np.log(SETTING.checkpoints) * 30
LINE = SETTING.checkpoints / 10.0


@pytest.mark.parametrize(("curve", "sign"), [(LOG, 1), (LINE, -1)])
def test_the_right_shape_wins(curve: np.ndarray, sign: int) -> None:
    trace = growing(curve)
    verdicts = [
        judge([Claim("1", "", [shape(trace)])])[0].word
        for shape in (grows_logarithmically, grows_linearly)
    ]
    assert verdicts == (["holds", "fails"] if sign > 0 else ["fails", "holds"])


def test_the_estimate_is_the_difference_of_both_fits() -> None:
    trace = growing(LOG, noise=0.0)
    late = trace.checkpoints >= 100
    t, mean = trace.checkpoints[late], trace.regret.mean(axis=0)[late]
    log, line = (np.corrcoef(x, mean)[0, 1] ** 2 for x in (np.log(t), t))
    assert log == pytest.approx(1.0)
    assert log_fit_gains(trace).mean() == pytest.approx(log - line)


def test_the_jackknife_knows_its_error() -> None:
    """Over many samples of runs the estimate varies as much as its standard error says."""
    whole = growing(LOG, runs=4000, noise=1.0)
    samples = [
        Trace(SETTING, whole.runs[i::100], whole.regret[i::100], *[whole.best[i::100]] * 4)
        for i in range(100)
    ]
    gains = [log_fit_gains(sample) for sample in samples]
    errors = [values.std(ddof=1) / values.size**0.5 for values in gains]
    assert np.std([values.mean() for values in gains]) == pytest.approx(np.mean(errors), rel=0.3)


def test_uniform_pulls_cost_linearly_and_nothing_lost_decides_nothing() -> None:
    uniform = simulate("uniform", "bernoulli", rounds=500, runs=10)
    assert grows_linearly(uniform).gain.mean > 0
    nothing = simulate("uniform", "bernoulli:means=[0.5]", rounds=50, runs=3)
    assert grows_logarithmically(nothing).gain[:2] == (0.0, 0.0)


def test_one_run_has_no_error() -> None:
    assert np.isnan(grows_linearly(growing(LINE, runs=1)).gain.se)


def test_a_verdict_is_a_word() -> None:
    words = [Verdict("", holds).word for holds in (True, False, None)]
    assert words == ["holds", "fails", "undecided"]
