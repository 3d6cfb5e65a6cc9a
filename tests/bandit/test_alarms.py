"""Alarms: each rings when it should, and is silent when it should be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bandit.clock import Clock, bandit_of

from giro import Bandit
from giro.bandit.alarms import KINDS, Watch, as_many_as_count
from giro.bandit.event import Decided
from giro.seeds import stream


def kinds(bandit: Bandit) -> list[str]:
    return [alarm.kind for alarm in bandit.alarms()]


def play(bandit: Bandit, n: int, *, reports: bool = True, mean: float = 0.5) -> None:
    rng = stream(1, n)
    for decision in bandit.decide_many(n):
        if reports:
            bandit.reward(decision.id, float(rng.random() < mean))


@pytest.mark.parametrize("aggregation", ["only", "sum"])
def test_it_rings_when_rewards_stop_and_not_when_traffic_does(aggregation: str) -> None:
    clock = Clock(0.0)
    bandit = bandit_of("uniform", clock=clock, reward_aggregation=aggregation, reward_wait=600.0)
    play(bandit, 100)
    clock.now += 7200
    assert kinds(bandit) == []  # nobody decides
    play(bandit, 100)
    assert kinds(bandit) == []
    clock.now += 7200
    play(bandit, 100, reports=False)
    clock.now += 700
    bandit.keep()  # what never came expires, which is no reward that came
    assert kinds(bandit) == ["rewards_stopped"]
    (alarm,) = bandit.alarms()
    assert alarm.text.startswith("rewards have stopped coming: of about 100 that were expected")


def test_it_does_not_ring_before_the_first_rewards_of_a_slow_product() -> None:
    clock = Clock(0.0)
    bandit = bandit_of("uniform", clock=clock)
    for _ in range(5):
        play(bandit, 50, reports=False)
        clock.now += 3600
    assert kinds(bandit) == []


def chosen(number: int, arm: int, chances: Any, names: tuple[str, ...] = ()) -> Decided:
    row = np.asarray(chances, float)
    return Decided(f"{number}", 1.0, arm, np.arange(row.size), row, np.nan, 0, names=names)


def fed(events: list[Decided], *, names: tuple[str, ...] = ()) -> list[str]:
    """Return the alarms of a bandit that made these decisions."""
    bandit = bandit_of("uniform", "abc")
    for event in events:
        bandit._state.counts.watch.decided(event)
    return kinds(bandit)


def test_it_rings_when_exploration_collapses_and_not_for_policies_without_chance() -> None:
    greedy = [1.0 - 2e-5, 1e-5, 1e-5]
    assert fed([chosen(i, 0, greedy) for i in range(600)]) == ["exploration_collapsed"]
    assert fed([chosen(i, 0, greedy) for i in range(400)]) == []  # too few to say
    assert fed([chosen(i, 0, [1.0, 0.0, 0.0]) for i in range(600)]) == []
    explores = [0.98, 0.01, 0.01]
    picks = stream(3).choice(3, size=600, p=explores)
    assert fed([chosen(i, int(arm), explores) for i, arm in enumerate(picks)]) == []


@pytest.mark.parametrize("names", [(), ("x", "y", "z")])
def test_it_rings_when_choices_do_not_follow_their_probabilities(names: tuple[str, ...]) -> None:
    rng, true, false = stream(4), [], []
    for i in range(1500):
        chances = rng.dirichlet([0.3, 1.0, 2.0])
        true.append(chosen(i, int(rng.choice(3, p=chances)), chances, names))
        false.append(chosen(i, int(rng.integers(3)), chances, names))
    assert fed(true) == []
    assert fed(false) == ["choices_off"]


def test_an_arm_that_cannot_be_chosen_and_is_rings() -> None:
    sure = [chosen(i, 0, [0.5, 0.5, 0.0]) for i in range(20)]
    assert fed([*sure[:10], *(chosen(i, 1, [0.5, 0.5, 0.0]) for i in range(10))]) == []
    wrong = [chosen(i, 2, [0.5, 0.5, 0.0]) for i in range(2)]
    assert fed([*sure[:9], *(chosen(i, 1, [0.5, 0.5, 0.0]) for i in range(9)), *wrong]) == [
        "choices_off"
    ]


def test_false_alarms_of_choices_are_rare(seed: int) -> None:
    """The level is a millionth."""
    rng = stream(seed, 8)
    for _ in range(20):
        chances = rng.dirichlet(np.ones(3))
        picks = rng.choice(3, size=500, p=chances)
        assert "choices_off" not in fed([chosen(i, int(a), chances) for i, a in enumerate(picks)])


def test_it_rings_when_a_follower_lags_and_is_silent_when_it_has_caught_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    monkeypatch.setattr("giro.bandit.alarms._TOO_FAR", 100)
    with (
        Bandit(["a", "b"], "uniform", name="b", store=where) as ahead,
        Bandit.open(where, "b") as behind,
    ):
        behind._follower._is_subscribed = True  # nobody tells it of news
        ahead.decide_many(100)
        assert kinds(behind) == ["lagging"]
        assert behind.lag > 100
        assert kinds(ahead) == []
        behind._follower.follow()
        assert (behind.lag, kinds(behind)) == (0, [])


def test_the_watch_is_bounded() -> None:
    watch = Watch()
    for i in range(3000):
        watch.decided(chosen(i, 0, np.full(200, 1 / 200))._replace(time=300.0 * i))
        watch.rewarded(300.0 * i)
    assert len(watch.recent) == 1000  # of 200 probabilities each
    assert len(watch.bins) == 288
    assert Watch(watch.to_json()).bins == watch.bins


def test_a_snapshot_keeps_the_rates(tmp_path: Path) -> None:
    where, clock = f"sqlite:///{tmp_path}/x.db", Clock(0.0)
    with Bandit(["a", "b"], "ucb1", name="b", store=where, clock=clock) as bandit:
        play(bandit, 30)
        bins = bandit._state.counts.watch.bins
    with Bandit.open(where, "b", clock=clock, at_once=True) as bandit:
        assert bandit.is_ready  # there was a snapshot
        assert bandit._state.counts.watch.bins == bins == {0: [30, 30]}


@pytest.mark.parametrize("later", [0, 3])
def test_who_opens_a_log_hears_what_rang_already(tmp_path: Path, later: int) -> None:
    """A snapshot has no probabilities of decisions, so these are read again."""
    where, oracle = f"sqlite:///{tmp_path}/x.db", Bandit(["a", "b", "c"], "uniform", seed=5)
    ids = [id for id in map(str, range(900)) if oracle.decide(id=id).arm != "c"]
    with Bandit(["a", "b", "c"], "uniform", name="b", store=where, seed=5) as bandit:
        for id in ids[:-later] if later else ids:
            bandit.decide(id=id)
        assert kinds(bandit) == ["choices_off"]
    with Bandit.open(where, "b", at_once=True) as bandit:
        assert not bandit._state.counts.watch.recent  # there was a snapshot
        for id in ids[-later:] if later else []:
            bandit.decide(id=id)
        assert kinds(bandit) == ["choices_off"]
        recent = [event.id for event in bandit._state.counts.watch.recent]
        assert recent == ids  # each once, in their order
        bandit.decide(id="one more")
        assert kinds(bandit) == ["choices_off"]
        assert len(bandit._state.counts.watch.recent) == len(ids) + 1


def test_it_looks_back_no_further_than_it_must() -> None:
    events = [chosen(i, 0, np.full(200, 1 / 200)) for i in range(3000)]
    found = as_many_as_count(reversed(events))
    assert [event.id for event in found] == [str(i) for i in range(2000, 3000)]
    few = [chosen(i, 0, [0.5, 0.5]) for i in range(3000)]
    assert len(as_many_as_count(reversed(few))) == 2000
    watch = Watch(is_restored=True)
    watch.decided(events[-1])
    watch.look_back(found)
    assert [event.id for event in watch.recent] == [event.id for event in found]


def test_every_kind_is_named_in_the_docstring() -> None:
    assert Bandit.alarms.__doc__ is not None
    assert all(kind in Bandit.alarms.__doc__ for kind in KINDS)
