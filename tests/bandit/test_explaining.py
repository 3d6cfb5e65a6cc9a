"""Why an arm was chosen: only what its decision has written down."""

import pickle

import numpy as np
import pytest
from bandit.clock import bandit_of, chances_of

from giro.bandit.event import Decided
from giro.bandit.explaining import _percent, explained

HOSTILE = '<img src=x onerror="alert(1)">'


def decided(chances: list[float], arm: int, *, own: float | None = None, n: int = 3) -> Decided:
    p = np.array(chances)
    chance = own if own is not None else (p[arm] if p.size == n else np.nan)
    return Decided("x", 1.0, arm, np.arange(n), p, float(chance), 7)


def test_it_lists_the_arms_on_offer_the_likeliest_first() -> None:
    text = str(explained(decided([0.2, 0.7, 0.1], 1), ("a", "b", "c")))
    assert text.splitlines() == [
        "'b' was chosen, one of 3 arms on offer, with probability 70.0 %.",
        "",
        "arm   probability",
        "b          70.0 %   chosen",
        "a          20.0 %",
        "c          10.0 %",
        "",
        "It was the likeliest arm.",
        "The policy had learned 7 rewards.",
    ]


@pytest.mark.parametrize(
    ("event", "remark"),
    [
        (decided([0.2, 0.7, 0.1], 0), "Exploration: 'b' was likelier, with 70.0 %."),
        (decided([0.4, 0.4, 0.2], 0), "No arm was likelier, but others were as likely."),
        (decided([0.0, 1.0, 0.0], 1), "No other arm had a chance."),
        (
            decided([0.6], 1),
            "Other arms' probabilities were not kept: whether it was exploration is not known.",
        ),
        (
            decided([], 1),
            "Other arms' probabilities were not kept: whether it was exploration is not known.",
        ),
        (
            decided([0.2, 0.7, 0.1], 1, own=0.4),
            "The policy itself gave it 40.0 %: a baseline was mixed in.",
        ),
    ],
)
def test_it_says_whether_a_likelier_arm_was_passed_over(event: Decided, remark: str) -> None:
    assert remark in explained(event, ("a", "b", "c")).remarks


def test_it_says_how_much_is_known_of_the_probability() -> None:
    names = ("a", "b", "c")
    assert "One estimate of its probability: 60.0 %." in explained(decided([0.6], 1), names).heading
    assert "Its probability was not kept." in explained(decided([], 1), names).heading
    alone = explained(Decided("x", 1.0, 0, np.arange(1), np.ones(1), 1.0, 0), ("a",))
    assert alone.heading == "'a' was chosen, the only arm on offer, with probability 100 %."
    assert alone.remarks == ()


def test_of_many_arms_the_chosen_one_and_the_likeliest_are_listed() -> None:
    n = 1_000
    chances = np.arange(1.0, n + 1)
    event = decided((chances / chances.sum()).tolist(), 0, n=n)
    arms = explained(event, tuple(f"arm {i}" for i in range(n))).arms
    assert [name for name, *_ in arms[:2]] == ["arm 999", "arm 998"]
    assert arms[-2][0] == "arm 0"
    name, share, _ = arms[-1]
    assert name == "990 other arms"
    rest = chances[1:991].sum() / chances.sum()
    assert share == f"{100 * rest:.1f} %"
    assert len(arms) == 11


def test_a_decision_that_was_just_made_names_its_policy_and_others_do_not() -> None:
    bandit = bandit_of("giro:a=1", "ab")
    bandit.reward(bandit.decide().id, 1.0)
    decision = bandit.decide()
    text = str(decision.explain())
    assert repr(decision.explain()) == text
    assert "Policy: giro:a=1, after 1 rewards." in text
    listed = {name: share for name, share, _ in decision.explain().arms}
    assert listed == {name: _percent(p) for name, p in chances_of(decision).items()}
    earlier = bandit.decision(decision.id).explain()
    assert "Policy:" not in str(earlier)
    assert "The policy had learned 1 rewards." in str(earlier)
    assert "Policy" not in str(pickle.loads(pickle.dumps(decision)).explain())


def test_what_chooses_until_the_policy_is_compiled_is_named() -> None:
    decision = bandit_of("giro:a=1", "ab", at_once=True).decide()
    assert "Policy: uniform, after 0 rewards." in str(decision.explain())


def test_a_notebook_shows_names_and_runs_nothing() -> None:
    names = (HOSTILE, "b", "</table><script>alert(2)</script>")
    html = explained(decided([0.2, 0.7, 0.1], 0), names)._repr_html_()
    assert "<img" not in html and "<script" not in html and html.count("</table>") == 1
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in html
    assert "Exploration:" in html
