"""The contextual claims of the paper, judged on traces whose verdict is known."""

from collections.abc import Mapping

import numpy as np
import pytest
from paper.studies.earned import ADULT, SETUP, earning, trace, traces

from giro import UnknownName
from giro.paper.claims import earns_more, earns_the_same, judge, size_of_family
from giro.paper.studies import contextual as paper
from giro.paper.studies.contextual import LIN_TS, LIN_UCB, UCB_GLM


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


def test_data_sets_are_those_of_the_paper() -> None:
    with pytest.raises(UnknownName, match="no data set of the paper is called 'mnist'"):
        SETUP.problem("mnist")


def test_the_claim_about_widths_is_that_about_linucb_and_lints_with_other_widths() -> None:
    (usual,) = [claim for claim in paper.claims(SETUP, traces({})) if claim.number == "1"]
    (wide,) = paper.width_claims(
        SETUP, traces(dict(zip(paper.WIDTH_ONE, (0.4, 0.65), strict=True)))
    )
    assert len(wide.comparisons) == len(usual.comparisons) == 32
    assert judge([wide])[0].word == "fails"
    assert paper.width_claims(SETUP, traces({})) == []
