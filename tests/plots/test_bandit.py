"""The history of a bandit as a figure: what is drawn is what slow sums over its events give."""

from pathlib import Path

import numpy as np
import pytest
from bandit.clock import Clock, bandit_of
from matplotlib.axes import Axes
from matplotlib.dates import num2date

from giro import BadParameter, Bandit
from giro.bandit.history import History
from giro.plots import save
from giro.plots.bandit import history_figure
from giro.seeds import stream


def played(n: int = 400, arms: str = "abc", *, clock: Clock | None = None) -> Bandit:
    """Return a bandit whose arms pay differently, with a tenth of its rewards still pending."""
    clock, rng = clock or Clock(), stream(5)
    bandit = bandit_of("thompson", arms, clock=clock)
    for i in range(n):
        clock.now += 60.0
        decision = bandit.decide()
        if i % 10:
            bandit.reward(decision.id, float(rng.random() < 0.2 + 0.2 * arms.index(decision.arm)))
    return bandit


def points(panel: Axes) -> list[tuple[list[float], list[float]]]:
    return [
        (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for line in panel.lines
    ]


def legend(figure: object) -> list[str]:
    (each,) = figure.legends  # type: ignore[attr-defined]  # of a figure
    return [text.get_text() for text in each.get_texts()]


def table(bandit: Bandit) -> tuple[list[str], dict[int, float]]:
    """Return the arms of the decisions, and the rewards by the place of their decision."""
    events = bandit.events().rows(named=True)
    decisions = [event for event in events if event["kind"] == "decision"]
    place = {event["id"]: i for i, event in enumerate(decisions)}
    rewards = {place[e["id"]]: e["reward"] for e in events if e["kind"] == "reward"}
    return [event["arm"] for event in decisions], dict(sorted(rewards.items()))


def test_shares_are_those_of_each_twentieth_of_the_decisions() -> None:
    bandit = played()
    arms, _ = table(bandit)
    shares, _ = bandit.plot().axes
    assert (shares.get_xlabel(), shares.get_ylabel()) == ("decisions", "share of decisions")
    for arm, (x, y) in zip("abc", points(shares), strict=True):
        assert x == [20 * block + 10.5 for block in range(20)]
        for block, share in enumerate(y):
            assert share == arms[20 * block : 20 * block + 20].count(arm) / 20


def test_rewards_are_means_of_as_many_rewards_each() -> None:
    bandit = played()
    arms, rewards = table(bandit)
    _, panel = bandit.plot().axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("decisions", "mean reward")
    *of_arms, of_all = points(panel)
    assert len(of_all[1]) == 20
    for block, mean in enumerate(of_all[1]):
        values = list(rewards.values())[18 * block : 18 * block + 18]
        assert mean == pytest.approx(sum(values) / 18)
    assert sum(map(len, (y for _, y in of_arms))) <= 22
    best = [(place, value) for place, value in rewards.items() if arms[place] == "c"]
    x, y = of_arms[-1]
    assert np.average(y, weights=sizes(len(best), len(y))) == pytest.approx(
        sum(value for _, value in best) / len(best)
    )
    assert x[0] == pytest.approx(
        np.mean([place + 1 for place, _ in best[: sizes(len(best), len(y))[0]]])
    )


def sizes(n: int, blocks: int) -> list[int]:
    return [n // blocks + (i < n % blocks) for i in range(blocks)]


def test_every_arm_has_a_name_below_the_panels_and_the_same_look_in_both() -> None:
    figure = played().plot()
    assert legend(figure) == ["a", "b", "c", "all arms"]
    looks = [[(line.get_color(), line.get_linestyle()) for line in p.lines] for p in figure.axes]
    assert set(looks[1][:-1]) <= set(looks[0])
    assert len(set(looks[0])) == 3


def test_six_arms_have_a_line_and_the_others_share_one() -> None:
    arms = "abcdefghij"
    bandit = played(300, arms)
    chosen, _ = table(bandit)
    figure = bandit.plot()
    common = sorted(sorted(arms, key=lambda arm: -chosen.count(arm))[:6])
    assert legend(figure) == [*common, "4 other arms", "all arms"]
    shares = [y for _, y in points(figure.axes[0])]
    assert np.sum(shares, axis=0).tolist() == pytest.approx([1.0] * 20)
    assert np.mean(shares[-1]) == pytest.approx(
        sum(chosen.count(arm) for arm in arms if arm not in common) / 300
    )


def test_along_the_time_there_are_dates() -> None:
    clock = Clock(1_700_000_000.0)
    shares, _ = played(clock=clock).plot(x="time").axes
    assert shares.get_xlabel() == "time (UTC)"
    x, _ = points(shares)[0]
    assert num2date(x[0]).timestamp() == pytest.approx(1_700_000_000.0 + 60 * 10.5)


def test_things_that_come_once_have_no_lines() -> None:
    n = 500
    names = tuple(map(str, range(n)))
    figure = history_figure(History(names, np.arange(n), np.arange(n) * 1.0, np.ones(n)))
    (panel,) = figure.axes
    assert panel.get_ylabel() == "mean reward"
    assert [y for _, y in points(panel)] == [[1.0] * 20]
    assert figure.legends == []


def test_without_rewards_there_are_shares_only() -> None:
    bandit = bandit_of("uniform", "ab")
    bandit.decide_many(5)
    (panel,) = bandit.plot().axes
    assert panel.get_ylabel() == "share of decisions"
    assert legend(bandit.plot()) == ["a", "b"]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_decisions_can_be_drawn(n: int, tmp_path: Path) -> None:
    bandit = bandit_of("uniform", "ab")
    for decision in bandit.decide_many(n):
        bandit.reward(decision.id, 1.0)
    save(bandit.plot(), tmp_path / "few.png")


def test_names_are_shown_letter_by_letter() -> None:
    names = ("_a", "$\\undefined$", "x" * 100)
    past = History(names, np.arange(3), np.zeros(3), np.ones(3))
    figure = history_figure(past)
    assert legend(figure)[:3] == ["_a", r"\$\undefined\$", "x" * 29 + "…"]
    png, _ = figure._repr_png_()
    assert png.startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(BadParameter, match="needs at least one decision"):
        bandit_of().plot()
    with pytest.raises(BadParameter, match="x is decisions or time, got 'rounds'"):
        played(3).plot(x="rounds")  # type: ignore[arg-type]  # on purpose
