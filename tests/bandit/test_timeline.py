"""How decisions and rewards went over time, against a scan of the log."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import Clock, bandit_of, counted

from giro import Bandit
from giro.bandit import state as states
from giro.bandit import timeline as timelines
from giro.seeds import stream


def sums_of(bandit: Bandit) -> Any:
    """Return all that a bandit counts beside its log."""
    tally, contrasts = bandit._state.counts.tally, bandit._state.counts.contrasts
    delays = sorted(tally.delays.items())
    sums = [tally.sums().tolist(), tally.expired().tolist(), contrasts.to_json()]
    return [tally.length, tally.numbers(), delays, *sums]


def scanned(bandit: Bandit, length: float) -> Any:
    """Return decisions, rewards, sums and squares by stretch and arm, of a scan of the log."""
    events = bandit.events()
    lowest = bandit.setting["reward_range"][0]
    decided = {row["id"]: row for row in events.filter(kind="decision").rows(named=True)}
    sums: dict[tuple[int, str], list[float]] = {}
    delays = []
    for row in decided.values():
        sums.setdefault((int(row["time"] // length), row["arm"]), [0.0] * 4)[0] += 1
    for row in events.rows(named=True):
        if row["kind"] in ("reward", "expired"):
            decision = decided[row["id"]]
            cell = sums[int(decision["time"] // length), decision["arm"]]
            value = row["reward"] - lowest
            for place, part in enumerate((1.0, value, value**2), start=1):
                cell[place] += part
            if row["kind"] == "reward":
                delays.append(row["time"] - decision["time"])
    return sums, delays


def counted_of(bandit: Bandit) -> dict[tuple[int, str], list[float]]:
    tally, names = bandit._state.counts.tally, bandit._state.arms
    return {
        (number, names[arm]): sums[:, arm].tolist()
        for number, sums in zip(tally.numbers(), tally.sums(), strict=True)
        for arm in range(sums.shape[1])
        if sums[:, arm].any()
    }


def long_lived(seed: int, n: int = 600, **rest: Any) -> Bandit:
    """Return a bandit whose rewards come late, out of order, by default or never."""
    clock, rng = Clock(), stream(seed, 7)
    options: dict[str, Any] = {"reward_range": (-1.0, 2.0), "share": 0.7, "clock": clock}
    bandit = bandit_of("thompson", **(options | rest))
    waiting = list[str]()
    for i in range(n):
        clock.now += float(rng.exponential(50.0))
        waiting.append(bandit.decide(baseline="b").id)
        if rng.random() < 0.8:
            id = waiting.pop(int(rng.integers(len(waiting))))
            bandit.reward(id, float(rng.integers(-1, 3)))
        if i == n // 2:
            bandit.add_arm("late")
            expired = {decision.id for decision in bandit.expire(2_000.0)}
            waiting = [id for id in waiting if id not in expired]
    return bandit


def test_counts_are_those_of_a_scan(seed: int, tmp_path: Path) -> None:
    bandit = long_lived(seed)
    bandit.erase([str(i) for i in range(0, 600, 7)])
    tally = bandit._state.counts.tally
    sums, delays = scanned(bandit, tally.length)
    assert len(tally.numbers()) <= 200
    assert tally.length > 64.0
    assert counted_of(bandit).keys() == sums.keys()
    for cell, expected in sums.items():
        assert counted_of(bandit)[cell] == pytest.approx(expected)
    assert tally.expired().sum() == bandit.events().filter(kind="expired").height > 0
    assert tally.delays.total() == len(delays)
    for power, count in tally.delays.items():
        least = 2.0 ** (power - 1) if power > -10 else -np.inf
        assert count == sum(least <= delay < 2.0**power for delay in delays)
    bandit.save(tmp_path / "x.giro")
    replayed = Bandit.replay(bandit.events())
    assert sums_of(Bandit.load(tmp_path / "x.giro")) == sums_of(bandit)
    assert sums_of(replayed) == sums_of(bandit)


def test_a_process_that_opens_the_bandit_goes_on_with_the_counts(where: str | None) -> None:
    if where is None:
        pytest.skip("memory has one process")
    bandit = long_lived(3, 80, name="x", store=where)
    bandit.close()
    with Bandit.open(where, "x", clock=Clock(1e6), ids=counted("next ")) as opened:
        assert sums_of(opened) == sums_of(bandit)
        twin = Bandit.replay(opened.events(), clock=Clock(1e6), ids=counted("next "))
        for i in range(6):
            for each in (opened, twin):
                waiting = each.pending()[-1].id  # its decision is not in memory any more
                each.reward(waiting, float(i % 2))
                each.decide()
        assert sums_of(opened) == sums_of(twin)


def test_a_snapshot_of_an_older_giro_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"sqlite:///{tmp_path}/x.db"
    bandit = long_lived(3, 80, name="x", store=where)
    snapshot = states.BanditState.snapshot

    def older(state: Any) -> Any:
        now = snapshot(state)
        for name in ("tally", "contrasts"):
            now.about.pop(name)  # type: ignore[union-attr]  # there is one
        return now

    with monkeypatch.context() as patch:
        patch.setattr(states.BanditState, "snapshot", older)
        bandit._follower._keep_snapshot()
        assert bandit._store.snapshots()
    with Bandit.open(where, "x") as opened:
        assert sums_of(opened) == sums_of(bandit)
    bandit.close()


def test_nothing_is_lost_when_stretches_are_joined(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long, now, rng = timelines.Tally(), timelines.Tally(), 0.0, stream(seed)
    for i in range(300):
        now += (i % 17) * 10.0 + (1e6 if i == 250 else 0.0)
        decision = int(rng.integers(3)), float(rng.integers(int(now) + 1))
        for tally, most in ((long, 20), (short, 10_000)):
            monkeypatch.setattr(timelines, "_MOST", most)
            tally.decided(i % 3, now)
            tally.rewarded(*decision, i / 7, 1.0)
    assert short.length == 1.0
    assert len(long.numbers()) <= 20 < len(short.numbers())
    factor = int(long.length / short.length)
    joined = {number: np.zeros((4, 3)) for number in long.numbers()}
    for number, sums in zip(short.numbers(), short.sums(), strict=True):
        joined[number // factor] += sums
    np.testing.assert_allclose(list(joined.values()), long.sums())


def test_memory_is_bounded_with_many_arms() -> None:
    tally, rng = timelines.Tally(), stream(3)
    for i in range(30_000):
        tally.decided(int(rng.integers(5_000)), i * 100.0)
        tally.rewarded(int(rng.integers(5_000)), float(rng.integers(i + 1)) * 100.0, 1.0, 0.0)
    sums = tally.sums()
    assert sums.shape[2] == timelines.MOST_ARMS + 1
    assert 10 <= sums.shape[0] <= 20
    assert sums[:, 0].sum() == sums[:, 1].sum() == 30_000
    assert sums[:, 0, -1].sum() == pytest.approx(24_000, abs=500)


def test_an_arm_that_gives_its_number_to_another_is_counted_with_the_others() -> None:
    tally = timelines.Tally()
    for i, arm in enumerate((0, 1, 1, 4_000)):
        tally.decided(arm, i * 1e3)
    tally.rewarded(1, 1e3, 0.5, None)
    tally.forget(1)
    tally.forget(4_000)
    sums = tally.sums()
    assert sums[:, 0, [0, 1, timelines.MOST_ARMS]].sum(axis=0).tolist() == [1, 0, 3]
    assert sums[:, 2, timelines.MOST_ARMS].sum() == 0.5


def test_names_that_come_and_go_keep_their_own_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_NAMES", 3)
    bandit = Bandit(None, "giro-ensemble:model=hashed", ids="numbered", clock=Clock())
    for names in ("ab", "c", "c", "d", "d", "d", "e"):
        decision = bandit.decide(arms=dict.fromkeys(names))
        bandit.reward(decision.id, 1.0)
    line = bandit.timeline()
    shown = dict(zip(line.names, line.rewards[0].tolist(), strict=True))
    assert {name: n for name, n in shown.items() if name in "cde"} == {"c": 2, "d": 3, "e": 1}
    assert line.names[-2].endswith("other arms") or line.names[-2].endswith("other arm")
    assert (shown[line.names[-2]], shown["all arms"]) == (1, 7)


# -- what is shown -------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [True, False])
def test_a_single_stretch_says_what_the_summary_says(binary: bool) -> None:
    clock = Clock()
    bandit = bandit_of("uniform", "abcd", reward_range=(1.0, 5.0), clock=clock)
    for i in range(90):
        decision = bandit.decide(arms=list("abcd")[: 1 + i % 3])
        if i % 4:
            bandit.reward(decision.id, (1.0, 5.0)[i % 2] if binary else 1.0 + i % 5)
    line = bandit.timeline(arms=10)
    table = {row["arm"]: row for row in bandit.summary().rows(named=True)}
    assert line.n_arms == 3  # d was never on offer
    assert sorted(line.names) == ["a", "all arms", "b", "c"]
    for i, name in enumerate(line.names[:3]):
        own = table[name]
        assert (line.decisions[0, i], line.rewards[0, i]) == (own["decisions"], own["rewards"])
        ends = line.mean[0, i], line.low[0, i], line.high[0, i]
        assert ends == pytest.approx((own["mean"], own["low"], own["high"]))
    assert line.decisions[0, -1] == 90
    assert (np.diff(line.decisions[0, :3]) <= 0).all()


def test_lines_are_the_frequent_arms_and_the_rest() -> None:
    clock = Clock()
    bandit = bandit_of("uniform", "abcdef", clock=clock)
    assert bandit.timeline().names == ("all arms",)
    assert bandit.timeline().begin.size == 0
    for i, name in enumerate("aabbbcccceeff" * 20):
        clock.now = 1_000.0 + 100.0 * i
        bandit.decide(arms=[name])
    line = bandit.timeline(arms=2, stretches=7)
    assert line.names == ("c", "b", "4 other arms", "all arms")
    assert line.decisions.sum(axis=0).tolist() == [80, 60, 120, 260]
    assert 4 <= line.begin.size <= 7
    assert (line.end[:-1] <= line.begin[1:]).all()
    assert np.isnan(line.mean).all()
    assert line.begin[0] <= 1_000.0 < line.end[0]
    assert line.begin[-1] <= clock.now < line.end[-1]


# -- drift -----------------------------------------------------------------------------------------


def test_an_arm_that_got_worse_has_drifted_and_others_have_not(seed: int) -> None:
    clock, rng = Clock(), stream(seed)
    bandit = bandit_of("uniform", "abcd", clock=clock, reward_range=(-1.0, 1.0))
    assert bandit.drift() == []
    for i in range(2_000):
        clock.now += 10.0
        arm = "abc"[i % 3] if i != 7 else "d"
        decision = bandit.decide(arms=[arm])
        chance = {"a": 0.5, "b": 0.8 if i < 1_700 else 0.2}.get(arm, 1.0)
        bandit.reward(decision.id, 1.0 if rng.random() < chance else -1.0)
    first, *rest = bandit.drift()
    assert first.arm == "b"
    assert first.is_clear
    assert first.change.high < -0.3 < 0.3 < first.before
    assert sorted(each.arm for each in rest) == ["a", "c"]
    assert not any(each.is_clear for each in rest)
    steady = next(each for each in rest if each.arm == "c")
    assert (steady.before, steady.lately, steady.change.value) == (1.0, 1.0, 0.0)
    rewards = bandit.events()
    times = rewards.filter(kind="decision", arm="b")
    lately = times.filter(times["time"] >= first.since)["id"].to_list()
    values = rewards.filter(kind="reward").filter(pl.col("id").is_in(lately))["reward"]
    assert first.lately == pytest.approx(values.mean())
    assert 0.15 < rewards.filter(pl.col("time") >= first.since).height / rewards.height <= 0.25


def test_a_single_stretch_cannot_show_drift() -> None:
    bandit = bandit_of("uniform", "ab")
    for i in range(100):
        bandit.reward(bandit.decide().id, float(i > 50))
    assert bandit.drift() == []
