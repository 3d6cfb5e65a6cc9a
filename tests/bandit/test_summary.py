"""What a bandit has seen, arm by arm, and how its policy would have done."""

import pytest
from bandit.clock import bandit_of

from giro.seeds import stream


def test_an_apprentice_tells_how_it_would_have_done(seed: int) -> None:
    """It learns from the baseline, agrees more and more, and estimates what it would earn."""
    bandit = bandit_of("thompson", "ab", seed=seed, share=0.5)
    rng = stream(seed, 9)
    for _ in range(1_500):
        decision = bandit.decide(baseline="a")
        bandit.reward(decision.id, float(rng.random() < {"a": 0.3, "b": 0.6}[decision.arm]))
    report = bandit.apprenticeship()
    assert report.decisions == 1_500
    assert report.earned == pytest.approx(0.45, abs=0.06)
    assert report.would_have_earned is not None
    assert report.standard_error is not None
    assert report.agreement is not None
    assert abs(report.would_have_earned - 0.6) < 5 * report.standard_error + 0.03
    assert 0.4 < report.agreement < 0.8
    nobody = bandit_of("thompson", "ab", share=0.0)
    assert nobody.apprenticeship()[1:] == (None, None, None, None)
    for _ in range(20):
        nobody.reward(nobody.decide(baseline="b").id, 1.0)
    assert nobody.summary()["decisions"].to_list() == [0, 20]
