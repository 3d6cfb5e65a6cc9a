"""What a bandit has seen, arm by arm, and how its policy would have done."""

import re
from html import escape
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
        assert len(each._state.counts.hours) == 4
    for hour in range(100):
        clock.now += 3_600.0
        bandit.decide(arms=["b"] if hour < 76 else ["a"])
    assert bandit.summary()["last_day"].to_list() == [1.0, 0.0]
    assert len(bandit._state.counts.hours) < 30


# -- what a notebook shows -----------------------------------------------------------------------

HOSTILE = ('<script>alert("1")</script>', "</table>&amp;", "plain")


def cells(html: str) -> list[list[str]]:
    """Return the texts of a table's rows."""
    rows = re.findall(r"<tr>(<td.*?)</tr>", html)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def test_a_notebook_shows_the_arms_with_what_came_of_them() -> None:
    bandit = bandit_of("thompson", "ab", name="shop")
    for i in range(30):
        decision = bandit.decide()
        if i % 3:
            bandit.reward(decision.id, float(i % 2))
    bandit.add_arm("new")
    bandit.retire_arm("b")
    table = {row["arm"]: row for row in bandit.summary().rows(named=True)}
    waiting = [decision.arm for decision in bandit.pending()]
    html = bandit._repr_html_()
    assert "Bandit shop: 30 decisions, 20 rewards, 10 pending" in html
    assert "<div>thompson</div>" in html
    rows = {row[0]: row[1:] for row in cells(html)}
    assert set(rows) == {"a", "b (retired)", "new"}
    for arm, label in (("a", "a"), ("b", "b (retired)")):
        decisions, share, mean, low, high, pending = rows[label]
        assert decisions == str(table[arm]["decisions"])
        assert share == f"{table[arm]['decisions'] / 30:.1%}"
        for shown, key in ((mean, "mean"), (low, "low"), (high, "high")):
            assert float(shown) == pytest.approx(table[arm][key], abs=0.01)
        assert pending == str(waiting.count(arm))
    assert rows["new"] == ["0", "0.0%", "-", "-", "-", "0"]


def test_a_notebook_gets_names_as_text_and_nothing_from_elsewhere() -> None:
    bandit = Bandit(HOSTILE, "uniform")
    bandit.decide_many(50)
    html = bandit._repr_html_()
    assert {row[0] for row in cells(html)} == {escape(name) for name in HOSTILE}
    assert "<script" not in html and html.count("</table>") == 1
    assert "http" not in html and "url(" not in html and "<style" not in html
    assert not re.search(r"[^-]color|background: (?!linear-gradient\(to right, rgba)", html)


def test_a_notebook_shows_twenty_of_many_arms() -> None:
    bandit = Bandit([f"arm {i}" for i in range(50)], "uniform", seed=1)
    bandit.decide_many(500)
    html = bandit._repr_html_()
    shown = [int(row[1]) for row in cells(html)]
    most = sorted(bandit.summary()["decisions"].to_list(), reverse=True)
    assert shown == most[:20]
    assert "and 30 more arms" in html


def test_a_bandit_without_decisions_shows_itself() -> None:
    assert "0 decisions, 0 rewards, 0 pending" in Bandit(["a"], "uniform")._repr_html_()
    assert cells(Bandit(policy="uniform")._repr_html_()) == []


def test_a_bandit_without_arms_has_a_summary_with_the_columns_of_others() -> None:
    none, some = Bandit().summary(), Bandit(["a"]).summary()
    assert (none.height, none.schema) == (0, some.schema)
