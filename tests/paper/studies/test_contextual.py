"""The contextual claims of the paper, judged on traces whose verdict is known."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy.special import stdtrit
from simulation.traces import small_trace

from giro import UnknownName
from giro.paper.claims import earns_more, earns_the_same, judge, size_of_family
from giro.paper.studies import contextual as paper
from giro.paper.studies import offline, settings
from giro.paper.studies.contextual import LIN_TS, LIN_UCB, UCB_GLM, Setup
from giro.simulation.trace import Trace

SETUP = Setup()
ADULT = SETUP.problem("adult")


SPREAD = 1e-4 * np.array([-1.0, 1.0, 0.5, -0.5, 0.0])  # of five runs around their mean


def earning(
    policy: str, problem: str, rewards: np.ndarray, runs: Sequence[int] | None = None
) -> Trace:
    """Return a trace of runs which earn these rewards a round."""
    made = small_trace([[0.0, 0.0]] * rewards.size, policy=policy, problem=problem, runs=runs)
    return dataclasses.replace(made, reward=np.column_stack([20 * rewards, 20 * rewards]))


def trace(policy: str, problem: str, reward: float) -> Trace:
    """Return a trace of five runs which earn so much a round, give or take a little."""
    return earning(policy, problem, reward + SPREAD)


def traces(rewards: Mapping[str, float], setup: Setup = SETUP) -> list[Trace]:
    """Return traces of the paper's policies on its data, with the paper's ranking unless told."""
    as_claimed = {
        setup.giro("linear"): 0.61,
        setup.greedy("linear"): 0.60,
        setup.giro("logistic"): 0.70,
        setup.greedy("logistic"): 0.69,
        setup.giro("network"): 0.80,
        setup.greedy("network"): 0.79,
        LIN_UCB: 0.40,
        LIN_TS: 0.41,
        UCB_GLM: 0.30,
    } | dict(rewards)
    found = [
        trace(policy, setup.problem(data), reward)
        for data in paper.DATA
        for policy, reward in as_claimed.items()
    ]
    network = {setup.giro("network"), setup.greedy("network")}
    adult = setup.problem("adult")
    return [
        trace(t.setting.policy, adult, 0.2)
        if (t.setting.problem, t.setting.policy in network) == (adult, True)
        else t
        for t in found
    ]


def verdicts(rewards: Mapping[str, float]) -> dict[str, str]:
    return {j.number: j.word for j in judge(paper.claims(SETUP, traces(rewards)))}


def test_all_claims_hold_if_the_numbers_are_as_the_paper_says() -> None:
    expected = dict.fromkeys("134567", "holds")
    found = verdicts({})
    assert {number: found[number] for number in expected} == expected
    assert found["2"] == "holds"


@pytest.mark.parametrize(
    ("rewards", "number"),
    [
        ({LIN_TS: 0.65}, "1"),
        ({SETUP.giro("linear"): 0.55}, "2"),
        ({SETUP.giro("linear"): 0.55}, "3"),
        ({SETUP.greedy("logistic"): 0.5}, "4"),
        ({SETUP.giro("network"): 0.65}, "5"),
        ({SETUP.greedy("linear"): 0.1}, "6"),
        ({UCB_GLM: 0.405}, "7"),
    ],
)
def test_a_claim_fails_if_the_numbers_contradict_it(
    rewards: Mapping[str, float], number: str
) -> None:
    assert verdicts(rewards)[number] == "fails"


def test_claims_about_policies_that_were_not_played_are_left_out() -> None:
    some = [t for t in traces({}) if t.setting.policy in (SETUP.giro("linear"), LIN_UCB)]
    (verdict,) = judge(paper.claims(SETUP, some))
    assert (verdict.number, len(verdict.findings)) == ("1", 3)
    assert {finding.word for finding in verdict.findings} == {"holds"}
    assert (verdict.word, verdict.missing) == ("undecided", 29)
    assert paper.claims(SETUP, []) == []


def test_claims_left_out_have_their_share_of_the_level() -> None:
    made = paper.claims(SETUP, traces({}))
    assert paper.n_comparisons() == size_of_family(made) == 63
    some = [t for t in traces({}) if t.setting.policy in (SETUP.giro("linear"), LIN_UCB)]
    (few,) = judge(paper.claims(SETUP, some), family=paper.n_comparisons())
    (all_of_it, *_) = judge(made)
    verdicts = {f.comparison: f.word for f in all_of_it.findings}
    assert all(verdicts[f.comparison] == f.word for f in few.findings)


def test_without_a_run_in_common_nothing_is_compared() -> None:
    rewards = np.array([0.5, 0.6])
    giro = earning(SETUP.giro("linear"), ADULT, rewards, runs=[0, 2])
    assert paper.claims(SETUP, [giro, earning(LIN_UCB, ADULT, rewards, runs=[1, 3])]) == []
    (claim,) = paper.claims(SETUP, [giro, earning(LIN_UCB, ADULT, rewards, runs=[1, 2])])
    assert claim.comparisons[0].runs == 1


def test_giro_is_compared_with_the_poisson_bootstrap() -> None:
    (claim,) = paper.poisson_claims(SETUP, traces({paper.POISSON: 0.5}))
    assert (len(claim.comparisons), judge([claim])[0].word) == (3, "holds")
    (claim,) = paper.poisson_claims(SETUP, traces({paper.POISSON: 0.7}))
    assert judge([claim])[0].word == "fails"
    assert paper.poisson_claims(SETUP, traces({})) == []


def test_what_speaks_for_a_claim_is_counted_whether_significant_or_not() -> None:
    (one,) = [j for j in judge(paper.claims(SETUP, traces({}))) if j.number == "4"]
    (other,) = [
        j
        for j in judge(paper.claims(SETUP, traces({SETUP.greedy("logistic"): 0.5})))
        if j.number == "4"
    ]
    assert (one.in_favour, other.in_favour) == (6, 3)


def test_the_same_means_within_the_margin_either_way() -> None:
    problem = SETUP.problem("statlog")
    first, second = trace("ucb1", problem, 0.50), trace("thompson", problem, 0.51)
    there, back = (
        earns_the_same(*pair, margin=0.02).gain for pair in ((first, second), (second, first))
    )
    assert there == pytest.approx(back)
    assert there.mean == pytest.approx(0.01)
    assert there.low <= there.mean <= there.high
    assert earns_the_same(first, second, margin=0.009).gain.mean == pytest.approx(-0.001)
    assert earns_more(second, first).gain.mean == pytest.approx(0.01)


def test_the_paper_scale_setting_is_the_one_in_which_greedy_earns_most() -> None:
    found: list[Trace] = []
    for i, setup in enumerate(settings.SETUPS):
        high = 0.9 if i == 3 else 0.5
        found += traces({setup.greedy("linear"): high, setup.giro("linear"): 1.0 - high}, setup)
    table = settings.verdicts(found)
    assert settings.chosen(table) == settings.SETUPS[3]
    missing = [t for t in found if t.setting.policy != settings.SETUPS[0].greedy("logistic")]
    assert settings.chosen(settings.verdicts(missing)) is None
    assert math.isnan(settings.earned(settings.SETUPS[0], missing).mean)
    picked = settings.earned(settings.SETUPS[3], found)
    assert picked.mean == pytest.approx((0.9 + 0.69) / 2)
    assert picked.se == pytest.approx(1e-4 * np.std([-1, 1, 0.5, -0.5, 0], ddof=1) / 5**0.5)


@pytest.mark.parametrize(("p_value", "verdict"), [(0.04, "holds"), (0.06, "undecided")])
def test_each_comparison_of_a_setting_has_the_whole_level(p_value: float, verdict: str) -> None:
    """Claim 3 is one comparison of 63; here its five runs have this p value."""
    se = np.std(SPREAD, ddof=1) / math.sqrt(5)
    gains = SPREAD - stdtrit(4, p_value / 2) * se
    pair = (SETUP.greedy("linear"), np.full(5, 0.5)), (SETUP.giro("linear"), 0.5 + gains)
    others = [t for t in traces({}) if t.setting.policy not in dict(pair)]
    table = settings.verdicts([*others, *(earning(p, ADULT, r) for p, r in pair)])
    (row,) = [row for row in settings.rows(table) if row["number"] == "3"]
    (line,) = [line for line in settings.comparisons(table) if line["number"] == "3"]
    assert (row["verdict"], line["verdict"]) == (verdict, verdict)
    assert line["p_value"] == pytest.approx(p_value)
    assert (line["scale"], line["fit"], line["runs"]) == (*SETUP, 5)


def test_the_rule_looks_at_runs_that_all_have() -> None:
    """Linear ε-greedy on Adult lacks the runs 0, 3 and 4; the others earn 0.75e-4 more in 1, 2."""
    found = traces({})
    gappy = earning(SETUP.greedy("linear"), ADULT, 0.6 + SPREAD[1:3], runs=[1, 2])
    expected = settings.earned(SETUP, found).mean + 0.75e-4
    assert settings.earned(SETUP, [gappy, *found]).mean == pytest.approx(expected, rel=1e-12)
    apart = dataclasses.replace(gappy, runs=gappy.runs + 10)
    assert math.isnan(settings.earned(SETUP, [apart, *found]).mean)


def test_data_sets_are_those_of_the_paper() -> None:
    with pytest.raises(UnknownName, match="no data set of the paper is called 'mnist'"):
        SETUP.problem("mnist")


def test_a_linear_model_trained_offline_is_ridge_regression_on_every_arm(seed: int) -> None:
    rng = np.random.default_rng(seed)  # noqa: TID251  # data, not a policy
    contexts = np.column_stack([rng.normal(size=(200, 3)), np.ones(200)])
    labels = (contexts[:, 0] > 0).astype(int) + (contexts[:, 1] > 1)
    ((passes, seen, unseen),) = offline._trained("linear", contexts, labels, 3, rng)
    train = contexts[:160]
    theta = np.linalg.solve(train.T @ train + np.eye(4), train.T @ np.eye(3)[labels[:160]])
    right = (contexts @ theta).argmax(axis=1) == labels
    assert (passes, seen, unseen) == (1, right[:160].mean(), right[160:].mean())


def test_the_offline_claim_compares_unseen_rows_split_by_split() -> None:
    def score(model: str, passes: int, split: int, unseen: float) -> offline.Score:
        return offline.Score("adult", model, passes, split, 1.0, unseen)

    found = [score("linear", 1, split, 0.3 + split / 1000) for split in range(4)]
    for passes in offline.PASSES["network"]:
        found += [score("network", passes, split, 0.2 + split / 1100) for split in range(4)]
    made = offline.claims(found, scale="unit")
    assert [claim.number for claim in made] == ["6, 1 pass", "6, 10 passes", "6, 100 passes"]
    assert {verdict.word for verdict in judge(made)} == {"holds"}
    assert made[0].comparisons[0].gain.mean == pytest.approx(0.1, abs=1e-3)
    assert "scale=unit" in made[0].comparisons[0].problem
    assert next(offline.rows_of(found))["unseen"] == pytest.approx(0.3015)


def test_splits_of_the_same_rows_are_not_taken_for_independent() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.1])
    naive = values.std(ddof=1) / math.sqrt(5)
    made = offline.over_splits(values)
    assert made.se == pytest.approx(naive * math.sqrt((1 / 5 + 0.2 / 0.8) * 5))
    assert made.high - made.mean == pytest.approx(made.mean - made.low)
    assert made.high - made.mean == pytest.approx(2.7764451 * made.se)


def test_the_claim_about_widths_is_that_about_linucb_and_lints_with_other_widths() -> None:
    (usual,) = [claim for claim in paper.claims(SETUP, traces({})) if claim.number == "1"]
    (wide,) = paper.width_claims(
        SETUP, traces(dict(zip(paper.WIDTH_ONE, (0.4, 0.65), strict=True)))
    )
    assert len(wide.comparisons) == len(usual.comparisons) == 32
    assert judge([wide])[0].word == "fails"
    assert paper.width_claims(SETUP, traces({})) == []
