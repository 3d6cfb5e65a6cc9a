"""Problems whose arms are set by their means."""

import numpy as np
import pytest
from laws import assert_follows_cdf
from scipy import stats

from giro import BadParameter, Problem
from giro.problem import start
from giro.problems.bernoulli import Bernoulli
from giro.seeds import stream


def test_means_are_drawn_uniformly_and_anew_in_each_run(seed: int) -> None:
    problem = Bernoulli(n_arms=5, low=0.25, high=0.75)
    means = np.array([start(problem, stream(seed, run)).means for run in range(2_000)])
    assert_follows_cdf(means.ravel(), stats.uniform(0.25, 0.5).cdf)


def test_given_means_are_the_same_in_every_run_and_decide_the_number_of_arms(seed: int) -> None:
    problem = Problem.parse("bernoulli:means=[0.7,0.4,0.1]")
    assert problem.n_arms == 3
    assert start(problem, stream(seed)).means.tolist() == [0.7, 0.4, 0.1]
    assert problem.text == "bernoulli:means=[0.7,0.4,0.1]"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("bernoulli:means=[1.2]", "bernoulli needs means in [0, 1], got 1.2"),
        ("bernoulli:means=[-0.1]", "means in [0, 1]"),
        ("bernoulli:means=[]", "a whole number n_arms >= 1"),
        ("bernoulli:n_arms=0", "a whole number n_arms >= 1, got n_arms=0"),
        ("bernoulli:low=0.8,high=0.2", "0 <= low <= high <= 1, got low=0.8, high=0.2"),
        ("beta:high=1.5", "0 <= low <= high <= 1"),
        ("beta:v=0", "beta needs a finite v > 0, got v=0"),
        ("beta:v=inf", "finite v"),
    ],
)
def test_what_is_out_of_range_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadParameter) as refusal:
        Problem.parse(text)
    assert complaint in str(refusal.value)


def test_means_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(BadParameter, match="means in"):
        Bernoulli(means=(float("nan"), 0.5))
