"""What a bandit has seen, arm by arm, and how its policy would have done."""

from pathlib import Path

import pytest
from bandit.clock import Clock, bandit_of

from giro import Bandit
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


def test_a_clock_that_was_once_far_ahead_does_not_spoil_the_last_day(tmp_path: Path) -> None:
    clock = Clock(1e9)
    bandit = bandit_of("thompson", "ab", clock=clock)
    for day in range(3):
        clock.now = 1e9 + day * 86_400.0
        bandit.decide_many(5, arms=["b"])
        if day == 1:
            clock.now += 1e9
            bandit.decide(arms=["a"])
    bandit.save(tmp_path / "x.giro")
    for each in (bandit, Bandit.load(tmp_path / "x.giro", clock=clock)):
        assert each.summary()["last_day"].to_list() == [0.0, 1.0]
        assert len(each._state.hours) == 4
    for hour in range(100):
        clock.now += 3_600.0
        bandit.decide(arms=["b"] if hour < 76 else ["a"])
    assert bandit.summary()["last_day"].to_list() == [1.0, 0.0]
    assert len(bandit._state.hours) < 30
