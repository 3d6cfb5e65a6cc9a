"""What is on offer: subsets of arms, and what is known of each of them."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from bandit.clock import Clock, bandit_of, chances_of, counted, state_of

from giro import Bandit, GiroError

WIDTHS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.5, 0.5]}
POLICY = "lin-ucb:scale=0.5"


def of(names: str) -> dict[str, list[float]]:
    return {name: WIDTHS[name] for name in names}


def taught(policy: str = POLICY, rounds: int = 12, **rest: Any) -> Bandit:
    """Return a bandit that knows its arms by features, with rewards 0.9 where the first is 1."""
    bandit = bandit_of(policy, "abc", **rest)
    for i in range(rounds):
        decision = bandit.decide([i / 20], arms=of("abc" if i % 3 else "bc"))
        bandit.reward(decision.id, 0.1 + 0.8 * WIDTHS[decision.arm][0])
    return bandit


def next_of(bandit: Bandit) -> tuple[str, str, dict[str, float]]:
    decision = bandit.decide([0.3], arms=of("abc"))
    return decision.id, decision.arm, dict(chances_of(decision))


def test_an_arm_that_was_taken_already_enters_the_log_with_probability_1() -> None:
    bandit = bandit_of("thompson", "abc", first_decisions=1)
    for arm in "ab":
        bandit.reward(bandit.decide(taken=arm).id, 1.0)
    bandit.decide(taken="c")
    decision = bandit.decide(taken="c", id="x")  # also where an arm would be left out
    assert (decision.arm, decision.propensity) == ("c", 1.0)
    assert decision.propensities == {"a": 0.0, "b": 0.0, "c": 1.0}
    assert bandit.decide(taken="c", id="x") == decision
    assert bandit.decide(id="x") == decision  # whoever asks for it again gets what was taken
    with pytest.raises(GiroError, match="is 'c', got taken='a'"):
        bandit.decide(taken="a", id="x")
    for wrong in ({"taken": "z"}, {"taken": "a", "arms": ["b", "c"]}):
        with pytest.raises(GiroError):
            bandit.decide(**wrong)
    bandit.reward("x", 0.5)
    again = Bandit.replay(bandit.events(), clock=Clock(), ids=counted("next "))
    bandit._new_id = counted("next ")
    assert again.decide() == bandit.decide()


def test_an_arm_without_a_number_may_be_taken_already() -> None:
    bandit = Bandit(None, POLICY)
    bandit.decide([0.1], arms=of("ab"))
    decision = bandit.decide([0.1], arms=of("abc"), taken="c")
    assert (decision.arm, decision.propensities) == ("c", {"a": 0.0, "b": 0.0, "c": 1.0})
    with pytest.raises(GiroError, match="'z' is not one of the arms"):
        bandit.decide([0.1], arms=of("abc"), taken="z")


# -- what features are for ---------------------------------------------------------------------


@pytest.mark.parametrize("policy", [POLICY, "ensemble"])
def test_an_arm_never_seen_is_judged_by_its_features(policy: str) -> None:
    bandit = bandit_of(policy, "abcd", first_decisions=None, propensities=False)
    known = of("ac") | {"d": [0.9, 0.1], "b": WIDTHS["b"]}
    for i in range(60):
        arm = "abc"[i % 3]
        decision = bandit.decide(arms={arm: known[arm]})
        bandit.reward(decision.id, 0.1 + 0.8 * WIDTHS[arm][0])
    chosen = [bandit.decide(arms={"d": known["d"], "b": known["b"]}).arm for _ in range(10)]
    assert chosen.count("d") >= 9


def test_features_of_an_arm_may_differ_from_decision_to_decision() -> None:
    bandit = taught()
    for _ in range(30):
        decision = bandit.decide([0.0], arms={"a": [0.0, 1.0], "b": [1.0, 0.0]})
        bandit.reward(decision.id, float(decision.arm == "b"))
    assert bandit.decide([0.0], arms={"a": [0.0, 1.0], "b": [1.0, 0.0]}).arm == "b"
    assert bandit.decide([0.0], arms={"a": [1.0, 0.0], "b": [0.0, 1.0]}).arm == "a"


def test_features_may_be_words() -> None:
    bandit = bandit_of(POLICY, "ab")
    known = {"a": {"colour": "red", "price": 2.0}, "b": {"price": 1.0, "colour": "blue"}}
    for _ in range(5):
        bandit.reward(bandit.decide(arms=known).id, 1.0)
    rows = bandit.events().filter(kind="decision")["features"].to_list()
    assert all(len(row) == 2 and len(row[0]) == 16 + 1 for row in rows)
    assert [sum(row) for row in rows[0]] == [3.0, 2.0]


def test_features_stand_in_the_log_in_the_order_of_the_arms() -> None:
    bandit = taught()
    bandit.decide([0.0], arms={"c": WIDTHS["c"], "a": WIDTHS["a"]})
    last = bandit.events().filter(kind="decision").row(-1, named=True)
    assert last["arms"] == ["a", "c"]
    assert last["features"] == [WIDTHS["a"], WIDTHS["c"]]


def test_arms_held_back_leave_no_features_behind() -> None:
    bandit = bandit_of("glm-ucb", "ab", first_decisions=1)
    bandit.reward(bandit.decide(arms={"a": [1.0, 2.0]}).id, 1.0)
    bandit.decide(arms={"b": [3.0, 4.0]})
    bandit.decide(arms={"b": [3.0, 4.0], "a": [1.0, 2.0]})
    last = bandit.events().filter(kind="decision").row(-1, named=True)
    assert (last["arms"], last["features"]) == (["a"], [[1.0, 2.0]])


# -- what is refused -----------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "no arms": ([0.1], {}, "a list of names, not empty"),
    "no arms in a list": ([0.1], [], "a list of names, not empty"),
    "an unknown arm": ([0.1], of("a") | {"z": [1.0, 2.0]}, "no arm is called 'z'"),
    "a retired arm": ([0.1], of("a") | {"d": [1.0, 2.0]}, "the arm 'd' is retired"),
    "a repeated arm": ([0.1], ["a", "a"], "an arm is named twice"),
    "too wide": ([0.1], of("a") | {"b": [1.0, 2.0, 3.0]}, "arm 'b': .* 2 numbers, got 3 numbers"),
    "too narrow": ([0.1], of("a") | {"b": [1.0]}, "arm 'b': .* of 2 numbers, got 1 numbers"),
    "empty": ([0.1], of("a") | {"b": []}, "arm 'b': .* list of numbers"),
    "too large": ([0.1], of("a") | {"b": [1.0, 1e160]}, "arm 'b': .* numbers within"),
    "infinite": ([0.1], of("a") | {"b": [1.0, -np.inf]}, "arm 'b': .* numbers within"),
    "words": ([0.1], of("a") | {"b": ["x", "y"]}, "arm 'b': .* list of numbers"),
    "of another form": ([0.1], of("a") | {"b": {"x": 1.0}}, "arm 'b': .* 2 numbers, got a mapping"),
    "missing": ([0.1], ["a", "b"], "needs features of its arms"),
    "missing, of all": ([0.1], None, "needs features of its arms"),
    "no context": (None, of("ab"), "needs a context"),
    "another context": ([0.1, 0.2], of("ab"), "wants a context of 1 numbers, got 2"),
    "a context too large": ([10**400], of("ab"), "a number within"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_is_refused_changes_nothing(which: str) -> None:
    context, arms, words = REFUSED[which]
    bandit, silent = taught(), taught()
    for each in (bandit, silent):
        each.add_arm("d")
        each.retire_arm("d")
    before = state_of(bandit)
    with pytest.raises(GiroError, match=words):
        bandit.decide(context, arms=arms)
    with pytest.raises(GiroError, match=words):
        bandit.decide_many([[0.2], context], arms=arms)
    assert state_of(bandit) == before
    assert next_of(bandit) == next_of(silent)


def test_features_of_arms_that_are_held_back_are_checked_too() -> None:
    bandit = bandit_of("glm-ucb", "ab", first_decisions=1)
    bandit.reward(bandit.decide(arms={"a": [1.0, 2.0]}).id, 1.0)
    bandit.decide(arms={"b": [3.0, 4.0]})
    with pytest.raises(GiroError, match=r"arm 'b': .* numbers within"):
        bandit.decide(arms={"b": [3.0, np.inf], "a": [1.0, 2.0]})


@pytest.mark.parametrize("policy", ["giro", "ucb1", "thompson", "tree-bootstrap"])
def test_policies_that_cannot_use_features_say_which_can(policy: str) -> None:
    bandit, silent = bandit_of(policy), bandit_of(policy)
    for context in (None, [1.0, 2.0]):
        with pytest.raises(GiroError, match=r"cannot use features of arms; .* giro-ensemble"):
            bandit.decide(context, arms=of("abc"))
    assert state_of(bandit) == state_of(silent)
    assert bandit.decide([1.0]).arm == silent.decide([1.0]).arm  # any form, for none was taken
    with pytest.raises(GiroError, match="have no features: name them in a list"):
        bandit.decide([1.0], arms=of("abc"))
    assert state_of(bandit) == state_of(silent)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ({"a": None}, "these arms have no features"),
        ({"a": {}, "b": None}, "these arms have no features"),
        ({"a": [np.inf]}, "arm 'a': .* numbers within"),
        ({"a": None, "b": [np.inf]}, "arm 'b': .* numbers within"),
        ({"a": [1.0], "b": [1.0] * 2}, "arm 'b': .* of 1 numbers, got 2"),
        ({"a": {"x": 1.0}, "b": [1.0]}, "arm 'a': .* of 1 numbers, got a mapping"),
    ],
)
def test_features_refused_at_first_decide_nothing(first: Any, words: str) -> None:
    bandit = bandit_of(POLICY)
    with pytest.raises(GiroError, match=words):
        bandit.decide([1.0], arms=first)
    bandit.decide(arms=of("abc"))
    assert bandit.events()["features"].drop_nulls().to_list() == [list(WIDTHS.values())]


def test_features_that_come_too_late_are_refused() -> None:
    bandit = bandit_of(POLICY)
    bandit.decide([1.0])
    with pytest.raises(GiroError, match="have no features"):
        bandit.decide([1.0], arms=of("abc"))
    assert bandit.n_decisions == 1


# -- saved, replayed, tampered with --------------------------------------------------------------


@pytest.mark.parametrize("policy", [POLICY, "giro-ensemble:replicas=5", "contextual-giro"])
@pytest.mark.parametrize("how", ["table", "events.parquet", "events.jsonl", "file"])
def test_a_bandit_with_features_goes_on_bit_for_bit(policy: str, how: str, tmp_path: Path) -> None:
    bandit = taught(policy, votes=3, clock=Clock(0.0))
    if how == "table":
        again = Bandit.replay(bandit.events(), clock=Clock(0.0))
    elif how == "file":
        bandit.save(tmp_path / "x.giro")
        again = Bandit.load(tmp_path / "x.giro", clock=Clock(0.0))
    else:
        bandit.write_events(tmp_path / how)
        again = Bandit.replay(tmp_path / how, clock=Clock(0.0))
    assert state_of(again) == state_of(bandit)
    for each in (bandit, again):
        each._new_id = counted("next ")
    assert [next_of(again) for _ in range(5)] == [next_of(bandit) for _ in range(5)]
    assert again.events().equals(bandit.events())


@pytest.mark.parametrize("contexts", [True, False])
def test_a_bandit_saved_before_its_first_decision_takes_any_form(
    contexts: bool, tmp_path: Path
) -> None:
    fresh, context = bandit_of(POLICY), [0.5, 0.1] if contexts else None
    fresh.save(tmp_path / "x.giro")
    copies = [
        Bandit.load(tmp_path / "x.giro", clock=Clock()),
        Bandit.replay(fresh.events(), clock=Clock()),
    ]
    for copy in copies:
        copy._new_id = counted()
        for each in (fresh, copy):
            for _ in range(2):
                each.reward(each.decide(context, arms=of("abc")).id, 1.0)
    assert state_of(copies[0]) == state_of(copies[1])


DECISION, REWARD = 8, 9  # rows
TAMPERED: dict[str, tuple[int, dict[str, Any], str]] = {
    "no probabilities": (
        DECISION,
        {"propensities": [5.0, -4.0]},
        "expected 2 probabilities that sum to 1",
    ),
    "sum": (DECISION, {"propensities": [0.5, 0.6]}, "expected 2 probabilities that sum to 1"),
    "nan": (DECISION, {"propensities": [NAN, 1.0]}, "expected 2 probabilities that sum to 1"),
    "too many": (DECISION, {"propensities": [0.2, 0.4, 0.4]}, "expected 2 probabilities, got"),
    "unknown arm": (DECISION, {"arm": "z"}, "no arm is called 'z'"),
    "arm not on offer": (DECISION, {"arm": "b"}, "'b' is not one of the arms"),
    "unknown arms": (DECISION, {"arms": ["a", "z"]}, "no arm is called 'z'"),
    "repeated arms": (DECISION, {"arms": ["a", "a"]}, "in order"),
    "no arms": (DECISION, {"arms": []}, "needs arms, got none"),
    "infinite context": (DECISION, {"context": [INF]}, "too large a number"),
    "width of the context": (DECISION, {"context": [1.0, 2.0]}, "a context has 1 features"),
    "no context": (DECISION, {"context": None}, "a context has 1 features"),
    "infinite features": (DECISION, {"features": [[1.0, 1e160]] * 2}, "too large a number"),
    "width of features": (DECISION, {"features": [[1.0]] * 2}, "an arm 2, got shapes"),
    "ragged features": (DECISION, {"features": [[1.0], [1.0, 2.0]]}, "as many features each"),
    "too few rows": (DECISION, {"features": [[1.0, 2.0]]}, "an arm 2, got shapes"),
    "no features": (DECISION, {"features": None}, "an arm 2, got shapes"),
    "id taken": (DECISION, {"id": "own"}, "already is a decision 'own'"),
    "second reward": (REWARD, {"id": "own", "reward": 1.0}, "no decision 'own' waits"),
    "another reward": (REWARD, {"id": "own"}, "no decision 'own' waits"),
    "reward of nobody": (REWARD, {"id": "nobody"}, "no decision 'nobody' waits"),
    "reward out of range": (REWARD, {"reward": 7.0}, r"a number in \[0, 1\]"),
}


def small() -> Bandit:
    bandit = bandit_of(POLICY, "abc")
    bandit.reward(bandit.decide([0.1], arms=of("abc"), id="own").id, 1.0)  # rows 5 and 6
    bandit.retire_arm("b")  # row 7
    decision = bandit.decide([0.2], arms=of("ac"))
    bandit.reward(decision.id, 0.5)
    return bandit


@pytest.mark.parametrize("which", TAMPERED)
def test_tampered_events_are_refused_with_a_clear_sentence(which: str) -> None:
    row, changes, words = TAMPERED[which]
    events = small().events()
    rows = events.to_dicts()
    assert rows[row]["kind"] == ("decision" if row == DECISION else "reward")
    if which == "arm not on offer":
        rows = [r for r in rows if r["kind"] != "arm_retired"]
        rows = [r | {"number": i} for i, r in enumerate(rows, 1)]
        row -= 1
    rows[row] |= changes
    with pytest.raises(GiroError, match=rf"event {row + 1} does not follow .*{words}"):
        Bandit.replay(pl.DataFrame(rows, schema=events.schema))


@pytest.mark.parametrize("nothing", [None, {}])
def test_an_arm_without_features_is_missing_among_others(nothing: Any) -> None:
    bandit, silent = taught(), taught()
    known = of("a") | {"b": nothing}
    decision = bandit.decide([0.1], arms=known, id="x")
    assert str(bandit.events()["features"][-1].to_list()[1]) == "[nan, nan]"
    assert decision == silent.decide([0.1], arms=of("a") | {"b": [None, np.nan]}, id="x")
    bandit.reward("x", 1.0)


def test_features_of_arms_may_come_late_and_the_others_lack_them() -> None:
    bandit = bandit_of(POLICY, "ab")
    bandit.reward(bandit.decide(arms={"a": {"x": 1.0}, "b": {"x": 2.0}}).id, 1.0)
    bandit.decide(arms={"a": {"x": 1.0, "new": 5.0}, "b": {"x": 2.0}}, id="late")
    assert str(bandit.events()["features"][-1].to_list()) == "[[1.0, 5.0], [2.0, nan]]"
    bandit.reward("late", 0.0)
    again = Bandit.replay(bandit.events(), clock=Clock())
    for each in (bandit, again):
        each._new_id = counted("next ")
    arms: dict[str, Any] = {"a": {"new": 1.0}, "b": {"x": 3.0, "word": "w"}}
    assert again.decide(arms=arms) == bandit.decide(arms=arms)
    assert state_of(again) == state_of(bandit)


def test_events_are_in_the_order_in_which_things_happened() -> None:
    bandit = bandit_of("ucb1", "ab")
    first, second = bandit.decide(), bandit.decide()
    bandit.add_arm("c")
    bandit.reward(second.id, 1.0)
    third = bandit.decide()
    bandit.retire_arm("a")
    bandit.reward_many({third.id: 0.0, first.id: 1.0})
    bandit.add_arm("a")
    events = bandit.events()
    kinds = ["arm_added", "arm_added", "form", "decision", "decision", "arm_added", "reward"]
    last = ["decision", "arm_retired", "reward", "reward", "arm_added"]
    assert events["kind"].to_list() == ["setting", *kinds, *last]
    assert events["id"].drop_nulls().to_list() == ["0", "1", "1", "2", "2", "0"]
    assert events.filter(kind="decision")["seen"].to_list() == [0, 0, 1]
    assert events.filter(kind="form")["seen"].to_list() == [1]  # the version of the schema
