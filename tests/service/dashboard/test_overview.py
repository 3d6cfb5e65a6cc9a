"""The page of a bandit, and that of its arms."""

from typing import Any

import pytest
from service.dashboard.conftest import POLICY, Browser, played, text_of

from giro import Bandit
from giro.service.dashboard.overview import all_arms, arm_rows, overview


def rewarded(counts: dict[str, tuple[int, int]]) -> Bandit:
    """Return a bandit whose arms got so many ones and zeros."""
    bandit = Bandit(list(counts), POLICY)
    for arm, (ones, zeros) in counts.items():
        for i in range(ones + zeros):
            bandit.reward(bandit.decide(arms=[arm]).id, float(i < ones))
    return bandit


def badges(bandit: Bandit) -> dict[str, str]:
    return {row["arm"]: row["badge"] for row in arm_rows(bandit) if row["badge"]}


def test_an_arm_is_best_when_its_interval_lies_above_all_others() -> None:
    assert badges(rewarded({"a": (30, 10), "b": (5, 35), "c": (4, 36)})) == {"a": "best"}


def test_an_arm_leads_while_intervals_overlap() -> None:
    assert badges(rewarded({"a": (12, 10), "b": (10, 12)})) == {"a": "leads"}


def test_an_arm_with_few_rewards_or_alone_or_retired_is_not_best() -> None:
    assert badges(rewarded({"a": (9, 0), "b": (6, 6)})) == {}
    bandit = rewarded({"a": (20, 0), "b": (5, 6), "c": (1, 11)})
    bandit.retire_arm("a")
    assert badges(bandit) == {"b": "leads"}


def test_shares_add_up_and_pending_is_what_waits() -> None:
    bandit = played(Bandit(["a", "b", "c"], POLICY))
    rows = arm_rows(bandit)
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    assert sum(row["pending"] for row in rows) == len(bandit.pending()) == 10


def test_charts_say_what_the_timeline_says() -> None:
    bandit = played(Bandit(["a", "b"], POLICY))
    content, timeline = overview(bandit, {}), bandit.timeline(arms=6, stretches=60)
    shares = content["shares"]
    assert shares["names"] == timeline.names
    for i, row in enumerate(shares["rows"]):
        assert row["decisions"] == timeline.decisions[i, -1]
        assert sum(row["shares"]) == pytest.approx(1.0)
        for j, (n, mean, low, high) in enumerate(row["rewards"]):
            assert n == timeline.rewards[i, j]
            if n:
                assert (mean, low, high) == (
                    timeline.mean[i, j],
                    timeline.low[i, j],
                    timeline.high[i, j],
                )


def test_a_bandit_without_decisions_has_a_page() -> None:
    content = overview(Bandit(["a", "b"], POLICY), {})
    assert content["uplift"] is None
    assert content["shares"]["rows"] == content["latest"] == []
    assert content["baseline"] == "the first arm, a"


def test_one_reward_of_the_baseline_is_not_compared(shown: Any, store: str) -> None:
    with Bandit([f"arm {i}" for i in range(40)], "uniform", name="b", store=store) as bandit:
        while bandit.uplift() is None:  # until the first arm has a reward
            bandit.reward(bandit.decide().id, 1.0)

    async def look(browser: Browser) -> None:
        text = text_of(await browser.page("/bandit", name="b"))
        assert "Uplift over the baseline – effective sample 1, too small" in text
        assert "too few rewards to compare" in text
        assert "Baseline 1.000 – 1" in text

    shown(look, store)


def test_the_baseline_is_named_as_it_is() -> None:
    open_arms = Bandit(None, "giro-ensemble:model=hashed")
    assert overview(open_arms, {})["baseline"] == "the first arm on offer"
    careful = Bandit(["a", "b"], POLICY, share=0.5)
    for i in range(40):
        careful.reward(careful.decide().id, float(i % 2))
    assert "does not decide" in overview(careful, {})["baseline"]


def test_the_page_shows_a_few_of_many_arms_the_most_frequent_first() -> None:
    bandit = played(Bandit([f"arm {i}" for i in range(30)], POLICY))
    content = overview(bandit, {})
    assert (len(content["arms"]), content["n_arms"]) == (8, 30)
    counts = [row["decisions"] for row in content["arms"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == bandit.summary()["decisions"].max()


@pytest.mark.parametrize(
    ("page", "expected"), [("1", 1), ("3", 3), ("9", 3), ("0", 1), ("-1", 1), ("x", 1), ("²", 1)]
)
def test_many_arms_come_in_parts(page: str, expected: int) -> None:
    bandit = Bandit([f"arm {i}" for i in range(250)], POLICY)
    content: dict[str, Any] = all_arms(bandit, {"page": page})
    assert (content["page"], content["n_pages"]) == (expected, 3)
    assert len(content["arms"]) == (50 if expected == 3 else 100)


def test_arms_are_found_by_a_part_of_their_name() -> None:
    bandit = Bandit(["Red", "dark red", "blue"], POLICY)
    assert {row["arm"] for row in all_arms(bandit, {"find": "RED"})["arms"]} == {"Red", "dark red"}
    assert all_arms(bandit, {"find": "green"})["arms"] == []
