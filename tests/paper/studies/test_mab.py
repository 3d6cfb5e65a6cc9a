"""What Kveton et al. (2019), Section 6.1, say of the multi-armed bandit experiments."""

import pytest

from giro import BadParameter, Trace
from giro.paper.claims import Verdict, judge, size_of_family
from giro.paper.studies import mab as paper
from giro.simulation.simulate import run

HOLD, FAIL = ("1", "2", "3", "4", "6"), ("5", "2, c = 0", "5, c = 0")


def test_the_experiment_is_the_papers() -> None:
    experiment = paper.experiment()
    assert (experiment.rounds, experiment.runs) == (10_000, 100)
    assert list(experiment.problems) == [
        "bernoulli:n_arms=10,low=0.25,high=0.75",
        "beta:v=4,n_arms=10,low=0.25,high=0.75",
        "beta:v=16,n_arms=10,low=0.25,high=0.75",
    ]
    giro = ["giro:a=1", "giro:a=1/3", "giro:a=0.1"]
    rivals = ["ucb1", "kl-ucb:c=3", "thompson"]
    assert list(experiment.policies) == [*giro, *rivals, "kl-ucb:c=0"]


def test_policies_that_are_asked_for_twice_are_played_once() -> None:
    experiment = paper.experiment(also=["giro:a=1/10", "kl-ucb:c=0", "besa"])
    assert list(experiment.policies)[6:] == ["kl-ucb:c=0", "besa"]


@pytest.fixture(scope="module")
def small() -> list[Trace]:
    return list(run(paper.experiment(rounds=60, runs=4)))


def test_every_claim_makes_the_comparisons_it_speaks_of(small: list[Trace]) -> None:
    claims = [*paper.claims(small), *paper.variants(small)]
    sizes = {claim.number: len(claim.comparisons) for claim in claims}
    assert sizes == {
        "1": 9, "2": 6, "3": 2, "4": 6, "5": 6, "6": 9, "2, c = 0": 6, "5, c = 0": 3,
    }  # fmt: skip
    assert size_of_family(claims) == 47
    for claim in claims:
        each = [(comparison.what, comparison.problem) for comparison in claim.comparisons]
        assert len(set(each)) == len(each)


def test_a_claim_about_a_policy_that_was_not_played_is_refused(small: list[Trace]) -> None:
    with pytest.raises(BadParameter, match=r"kl-ucb:c=0 was not played on beta:v=4"):
        paper.variants([t for t in small if t.setting.policy != "kl-ucb:c=0"])


@pytest.fixture(scope="module")
def judged() -> dict[str, Verdict]:
    """The claims at the paper's scale, on other instances than those that are committed."""
    traces = list(run(paper.experiment(seed=2019)))
    claims = paper.claims(traces) + paper.variants(traces)
    return {verdict.number: verdict for verdict in judge(claims)}


@pytest.mark.slow
@pytest.mark.parametrize("number", HOLD)
def test_the_claim_holds(judged: dict[str, Verdict], number: str) -> None:
    assert judged[number].word == "holds"


@pytest.mark.slow
@pytest.mark.parametrize("number", FAIL)
def test_the_claim_fails(judged: dict[str, Verdict], number: str) -> None:
    assert judged[number].word == "fails"


@pytest.mark.slow
def test_thompson_sampling_beats_giro_in_the_bernoulli_problem(
    judged: dict[str, Verdict],
) -> None:
    findings = [f for f in judged["5"].findings if f.comparison.what.startswith("thompson")]
    assert [finding.word for finding in findings] == ["holds"] * 3
