"""What callers know becomes numbers, in the same way ever after."""

import datetime
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from bandit.clock import Clock, bandit_of, state_of

import giro
from giro import BadParameter, Bandit, GiroError, Policy
from giro.features import Columns, Schema
from giro.policy import Case, Offer, Shape
from giro.seeds import stream

NAN = float("nan")
FEATURES = {"age": "number", "country": ["de", "fr"], "page": "hashed:4"}


def context_of(bandit: Bandit) -> list[float]:
    return bandit.events()["context"][-1].to_list()


@pytest.mark.parametrize("context", [[1, 2.5], (1, 2.5), np.array([1, 2.5], np.float32)])
def test_sequences_keep_their_numbers_and_nothing_is_added(context: Any) -> None:
    bandit = bandit_of()
    bandit.decide(context)
    assert context_of(bandit) == [1.0, 2.5]


@pytest.mark.parametrize("policy", ["lin-ucb:scale=0.1", "ensemble", "giro-ensemble"])
def test_an_arm_that_is_always_good_is_found_without_a_constant_in_the_context(policy: str) -> None:
    """Contexts have mean 0, so that only a constant of the policy's own can tell arms apart."""
    bandit = bandit_of(policy, "ab", seed=1, propensities=False)
    for i in range(60):
        decision = bandit.decide([1.0 - 2.0 * (i % 2)], arms=["ab"[i // 2 % 2]])
        bandit.reward(decision.id, 0.9 if decision.arm == "b" else 0.1)
    chosen = [decision.arm for decision in bandit.decide_many([[0.0], [1.0], [-1.0]] * 4)]
    assert chosen.count("b") >= 11


def test_a_context_may_change_after_the_decision() -> None:
    bandit, context = bandit_of(), np.array([1.0, 2.0])
    bandit.decide(context)
    context[:] = 9.0
    assert context_of(bandit) == [1.0, 2.0]


def test_declared_features_become_their_columns() -> None:
    bandit = bandit_of(features=FEATURES)
    bandit.decide({"page": "home", "country": "fr", "age": 31})
    row = context_of(bandit)
    assert row[:4] == [31.0, 0.0, 1.0, 0.0]
    assert sorted(row[4:]) == [0.0, 0.0, 0.0, 1.0]


def test_the_first_mapping_decides_on_columns_if_none_were_declared() -> None:
    bandit = bandit_of()
    bandit.decide({"word": "x", "flag": True, "number": 2.5})
    row = context_of(bandit)
    assert row[:2] == [1.0, 2.5]
    assert len(row) == 2 + 16
    bandit.decide({"word": "never seen before", "flag": False, "number": -1})
    assert sum(context_of(bandit)[2:18]) == 1.0


def test_a_word_has_the_same_column_on_every_machine_and_for_ever() -> None:
    bandit = bandit_of(features={"page": "hashed:8", "other": 8})
    bandit.decide({"page": "home", "other": "home"})
    assert [i for i, value in enumerate(context_of(bandit)) if value] == [7, 13]


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ([1.0], "wants a context of the features age, country, page, got 1 numbers"),
        ({"age": "old", "country": "de", "page": "x"}, "'age' is a number, got 'old'"),
        ({"age": ["old", "young"]}, "'age' is a number, got 'old'"),
        ({"age": {1, 2}}, "'age' is a number, got {1, 2}"),
        ({"age": float("inf")}, r"'age' is a number within ±1e\+150, got inf"),
        ({"age": -1e160}, r"'age' is a number within ±1e\+150, got -1e\+160"),
        ({"age": 10**400}, "got one of more than 150 digits"),
        ({"age": 1, "country": 2, "page": "x"}, "'country' is a word, got 2"),
        ({"x" * 10_000: {1, 2}}, "'xxx"),
        ({3: 1.0}, "names of features are words, got 3"),
        ({"age": "x" * 10_000}, "'age' is a number, got 'xxx"),
    ],
)
def test_mappings_of_another_form_are_refused_and_change_nothing(context: Any, words: str) -> None:
    bandit = bandit_of(features=FEATURES)
    with pytest.raises(BadParameter):
        bandit.decide(context)
    bandit.decide({"age": 1, "country": "de", "page": "x"})
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=words) as refusal:
        bandit.decide(context)
    assert state_of(bandit) == before
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ([1.0], "wants a context of 2 numbers, got 1 numbers"),
        ([1.0, float("inf")], "numbers within"),
        ([0.1, 1e160], r"numbers within ±1e\+150"),
        ([0.1, 10**400], r"number within ±1e\+150"),
        (["1", "2"], "list of numbers"),
        ("ab", "list of numbers"),
        ([[1.0, 2.0]], "list of numbers"),
        ([[1.0], [2.0, 3.0]], "holds numbers"),
        (3.0, "list of numbers"),
        ([], "list of numbers"),
        ([1.0, None, 2.0], "wants a context of 2 numbers, got 3 numbers"),
        ([None, "2"], "holds a number, got '2'"),
        ({"x": 1.0}, "wants a context of 2 numbers, got a mapping: {'x': 1.0}"),
        (None, "needs a context"),
    ],
)
def test_sequences_of_another_form_are_refused_and_change_nothing(context: Any, words: str) -> None:
    bandit = bandit_of()
    bandit.decide([1.0, 2.0])
    before = state_of(bandit)
    with pytest.raises(BadParameter, match=words):
        bandit.decide(context)
    with pytest.raises(BadParameter, match=words):
        bandit.decide_many([[1.0, 2.0], context])
    assert state_of(bandit) == before


def test_a_context_refused_at_first_decides_nothing() -> None:
    bandit = bandit_of()
    for context, arms in ([1.0], ["z"]), ({"x": 1}, []), ({"x": {1, 2}}, None):
        with pytest.raises(GiroError):
            bandit.decide(context, arms=arms)
    with pytest.raises(GiroError):
        bandit.decide_many([[1.0], [1.0, 2.0]])
    bandit.decide([1.0, 2.0, 3.0])
    assert context_of(bandit) == [1.0, 2.0, 3.0]


# -- what the real world gives -------------------------------------------------------------------


def test_any_of_the_names_may_be_missing_from_the_first_context_on() -> None:
    bandit = bandit_of(features=FEATURES)
    for context in (
        {},
        {"country": "fr"},
        {"age": None, "country": None},
        {"age": NAN, "page": NAN},
    ):
        bandit.decide(context)
        row = context_of(bandit)
        assert np.isnan(row[0])
        assert row[1:] == [0.0, float("country" in context and row[2]), *[0.0] * 5]
    assert bandit.n_decisions == 4


def test_numbers_may_be_missing_in_a_list() -> None:
    bandit = bandit_of()
    bandit.decide([None, 2])
    assert str(context_of(bandit)) == "[nan, 2.0]"
    bandit.decide(np.array([1.0, NAN]))
    assert str(context_of(bandit)) == "[1.0, nan]"


def test_what_is_missing_in_the_first_context_has_a_column_when_it_comes() -> None:
    bandit = bandit_of()
    bandit.decide({"age": None, "hour": 3})
    assert context_of(bandit) == [3.0]
    bandit.decide({"age": 31, "hour": 4})
    assert context_of(bandit) == [4.0, 31.0]
    bandit.decide({"hour": 5})
    assert str(context_of(bandit)) == "[5.0, nan]"


def test_new_words_share_a_column() -> None:
    bandit = bandit_of(features={"country": ["de", "fr"]})
    rows = []
    for word in ("de", "it", "fr", "es"):
        bandit.decide({"country": word})
        rows.append(context_of(bandit))
    assert rows == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_bandit_with_declared_features_may_begin_without_a_context() -> None:
    bandit = bandit_of("lin-ucb:scale=1", features={"h": "number"})
    bandit.decide()
    assert str(context_of(bandit)) == "[nan]"
    for decision in bandit.decide_many(2):
        bandit.reward(decision.id, 1.0)
    bandit.decide({"h": 1})
    assert context_of(bandit) == [1.0]


# -- names that come later -------------------------------------------------------------------------


def schema_of(bandit: Bandit) -> Schema:
    schema = bandit._state.schema
    assert schema is not None
    return schema


def names_of(bandit: Bandit) -> list[str]:
    """Return the names of the columns of contexts."""
    context = schema_of(bandit).context
    assert isinstance(context, Columns)
    return context.names()


def test_names_that_were_never_met_get_columns_at_the_end() -> None:
    bandit = bandit_of("lin-ucb:scale=1", features={"age": "number"})
    bandit.decide({"age": 1.0})
    bandit.decide({"zip": 7.0, "age": 2.0, "_request": "r7"})
    bandit.decide({"city": "Rome"})
    assert names_of(bandit) == ["age", "zip", *16 * ["city"]]
    assert schema_of(bandit).steps == ((1, 0), (2, 0))
    rows = bandit.events().filter(kind="decision")["context"].to_list()
    assert rows[:2] == [[1.0], [2.0, 7.0]]
    assert str(rows[2][:2]) == "[nan, nan]"
    assert sum(rows[2][2:]) == 1.0
    assert bandit.events()["kind"].to_list().count("form") == 3


def test_one_of_several_contexts_may_bring_a_new_name() -> None:
    bandit = bandit_of("lin-ucb:scale=1")
    bandit.decide({"a": 1.0})
    bandit.decide_many([{"a": 1.0}, {"b": 2.0}, {"c": "x"}])
    rows = bandit.events().filter(kind="decision")["context"].to_list()
    assert [len(row) for row in rows] == [1, 18, 18, 18]
    assert bandit.events()["kind"].to_list().count("form") == 2
    assert bandit.events()["seen"].to_list()[-4] == 2  # the second form


def test_a_request_repeated_after_the_schema_grew_gets_the_same_decision() -> None:
    bandit = bandit_of("lin-ucb:scale=1", name="x")
    asked: list[Any] = [{"a": 1.0}, {"a": 1.0, "b": "word"}, {"b": None, "a": 1}]
    decisions = [bandit.decide(context, id=f"r{i}") for i, context in enumerate(asked)]
    bandit.reward(decisions[0].id, 1.0)
    bandit.decide({"c": 3.0, "d": "more"})
    before = state_of(bandit)
    for i, context in enumerate(asked):
        assert bandit.decide(context, id=f"r{i}") == decisions[i]
    assert state_of(bandit) == before
    for other in ({"a": 2.0}, {"a": 1.0, "b": "another"}, {"a": 1.0, "c": 3.0}, None):
        with pytest.raises(BadParameter, match="was asked for by another request"):
            bandit.decide(other, id="r1")


def test_a_name_is_a_number_and_elsewhere_a_word_unless_it_was_declared() -> None:
    bandit = bandit_of("lin-ucb:scale=1", features={"age": "number"})
    bandit.decide({"size": 3})
    bandit.decide({"size": "large"})
    bandit.decide({"size": 4})
    assert names_of(bandit) == ["age", "size", *16 * ["size"]]
    assert context_of(bandit)[1:] == [4.0, *16 * [0.0]]
    before = state_of(bandit)
    with pytest.raises(BadParameter, match="'age' is a number, got 'old'"):
        bandit.decide({"age": "old", "never met": 1.0})
    assert state_of(bandit) == before


def test_names_beyond_the_most_columns_are_left_out_with_one_warning() -> None:
    bandit = bandit_of("lin-ucb:scale=1", max_columns=3)
    bandit.decide({"a": 1.0, "b": 2.0})
    bandit.decide({"c": 3.0})
    with pytest.warns(UserWarning, match="there are 3 columns, which is the most: .* 'd'"):
        bandit.decide({"a": 4.0, "d": 5.0})
    assert str(context_of(bandit)) == "[4.0, nan, nan]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bandit.decide({"d": 5.0, "e": "word", "b": 6.0})
        bandit.decide({"a": "now a word"})
    assert schema_of(bandit).widths == (3, 0)
    assert bandit.n_decisions == 5


@pytest.mark.parametrize("how", ["decide", "decide_many", "rank"])
def test_warnings_point_at_the_line_that_asked(how: str) -> None:
    bandit = bandit_of("lin-ucb:scale=1", features={"age": "number"}, max_columns=1)
    bandit.decide({"age": 1.0})
    with pytest.warns(UserWarning, match="1 columns, which is the most") as warned:
        if how == "decide":
            bandit.decide({"zip": 1.0})
        elif how == "decide_many":
            bandit.decide_many([{"zip": 1.0}] * 2)
        else:
            bandit.rank({"zip": 1.0}, slots=2)
    assert [each.filename for each in warned] == [__file__]


def test_a_new_name_that_is_nearly_a_declared_one_is_warned_of() -> None:
    bandit = bandit_of("lin-ucb:scale=1", features=FEATURES)
    with pytest.warns(UserWarning, match="'contry' is new, .* did you mean 'country'"):
        bandit.decide({"age": 1.0})
        bandit.decide({"contry": "de", "age": 2.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bandit.decide({"contry": "fr", "hour": 3.0})


def test_a_policy_that_would_play_otherwise_says_so_when_contexts_come_late() -> None:
    bandit = bandit_of("default")
    bandit.decide()
    with pytest.raises(BadParameter, match="the first decisions of this bandit had no context"):
        bandit.decide({"a": 1.0})
    later = bandit_of("lin-ucb:scale=1")
    later.reward(later.decide().id, 1.0)
    later.decide({"a": 1.0})
    assert context_of(later) == [1.0]


def test_booleans_dates_and_lists_are_numbers_and_words() -> None:
    bandit = bandit_of("lin-ucb:scale=1", features={"likes": ["jazz", "rock"]})
    day = datetime.date(1970, 1, 11)
    bandit.decide({"likes": ["rock", "jazz"], "is_new": True, "since": day, "at": [1.5, 2]})
    assert names_of(bandit)[3:] == ["at.0", "at.1", "is_new", "since"]
    assert context_of(bandit) == [1.0, 1.0, 0.0, 1.5, 2.0, 1.0, 10.0]


def test_messages_stay_short_whatever_was_declared() -> None:
    bandit = bandit_of(features={f"feature number {i}": "number" for i in range(10_000)})
    bandit.decide({"feature number 17": 1.0})
    with pytest.warns(UserWarning, match="2000 columns, which is the most") as warned:
        bandit.decide({"feature numbr 3" * 1_000: 1.0})
    assert len(str(warned[0].message)) < 250
    for wrong in ([1.0] * 7, {"feature number 3": "x" * 9_999}, {"y" * 9_999: {1}}):
        with pytest.raises(BadParameter) as refusal:
            bandit.decide(wrong)
        assert len(str(refusal.value)) < 220


@pytest.mark.parametrize("features", ["x", ["x"], {}, 3])
def test_features_are_declared_by_name(features: Any) -> None:
    with pytest.raises(BadParameter, match="features maps names"):
        bandit_of(features=features)


def test_who_gives_contexts_to_a_policy_that_ignores_them_is_told_once() -> None:
    bandit = bandit_of("thompson")
    with pytest.warns(UserWarning, match="thompson logs contexts, but ignores them"):
        bandit.decide({"hour": 14})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bandit.decide({"hour": 15})
        bandit_of("thompson").decide()
        bandit_of("lin-ucb:scale=0.5").decide({"hour": 14})


def right_in(unit: Callable[[np.ndarray], Any], *, seed: int = 5, **options: Any) -> float:
    """Return how often the last half of decisions is right, in numbers of some unit."""
    bandit, rng = bandit_of("lin-ucb:scale=0.5", "ab", **options), stream(seed)
    right = []
    for _ in range(300):
        x = rng.normal(size=2)
        best = "ab"[int(x[0] > 0.0)]
        decision = bandit.decide(unit(x))
        bandit.reward(decision.id, float(rng.random() < (0.9 if decision.arm == best else 0.1)))
        right.append(decision.arm == best)
    return float(np.mean(right[150:]))


@pytest.mark.parametrize(
    "unit",
    [
        lambda x: x,
        lambda x: 1000.0 + x,
        lambda x: 1e-6 * x,
        lambda x: 1e6 * x,
        lambda x: {"year": 2000.0 + x[0], "price": 1e9 * x[1], "noise": None},
    ],
    ids=["normal", "shifted", "small", "large", "by name"],
)
def test_units_and_shifts_do_not_matter(unit: Any) -> None:
    names = {"year": "number", "price": "number", "noise": "number"}
    features = names if isinstance(unit(np.zeros(2)), dict) else None
    assert right_in(unit, features=features) > 0.9


def test_as_they_are_small_numbers_teach_nothing() -> None:
    assert right_in(lambda x: 1e-6 * x, standardise=False) < 0.7


@pytest.mark.parametrize("huge", [1e18, 1e149])
def test_one_huge_number_does_no_harm(huge: float) -> None:
    shares = []
    for seed in range(5, 8):
        rounds = iter(range(300))
        unit = lambda x, rounds=rounds: [huge, huge] if next(rounds) == 100 else x  # noqa: E731
        shares.append(right_in(unit, seed=seed))
    assert np.mean(shares) > 0.9


@pytest.mark.parametrize("how", ["table", "events.parquet", "events.jsonl", "x.giro"])
@pytest.mark.parametrize("standardise", [True, False])
def test_a_bandit_with_gaps_in_other_units_goes_on(
    how: str, standardise: bool, tmp_path: Path
) -> None:
    clock, rng = Clock(), stream(8)
    features = {"year": "number", "country": ["de", "fr"]}
    options: dict[str, Any] = {"features": features, "standardise": standardise, "clock": clock}
    bandit = bandit_of("lin-ucb:scale=0.5", **options)

    def rounds(bandit: Bandit, n: int, rng: np.random.Generator) -> list[Any]:
        told = []
        for _ in range(n):
            word = str(rng.choice(["de", "fr", "it"]))
            whole = {"year": 2000.0 + rng.normal(), "country": word}
            names = [name for name in whole if rng.random() < 0.8]
            arms = {arm: [1e6 * rng.random(), None] for arm in "abc"}
            decision = bandit.decide({name: whole[name] for name in names}, arms=arms)
            told.append((decision.arm, decision.propensities))
            bandit.reward(decision.id, float(rng.random() < 0.5))
        return told

    rounds(bandit, 40, rng)
    if how == "table":
        again = Bandit.replay(bandit.events(), clock=clock)
    elif how == "x.giro":
        bandit.save(tmp_path / how)
        again = Bandit.load(tmp_path / how, clock=clock)
    else:
        bandit.write_events(tmp_path / how)
        again = Bandit.replay(tmp_path / how, clock=clock)
    assert rounds(again, 10, stream(9)) == rounds(bandit, 10, stream(9))
    result = giro.evaluate(bandit.events(), "lin-ucb:scale=0.5")
    assert np.isfinite(result["dr"].value)


@pytest.mark.parametrize("features", [{"x": 0}, {"x": []}, {"x": ["a", "a"]}, {"x": "hashed:x"}])
def test_features_are_declared_in_one_of_three_ways(features: Any) -> None:
    with pytest.raises(BadParameter, match="'number', a list of different words, or 'hashed:32'"):
        bandit_of(features=features)


class _Seen(NamedTuple):
    rows: list[tuple[list[float], int, float]]
    n_features: int


@dataclass(frozen=True)
class Nearest(Policy, name="nearest-of-tests"):
    """Takes the arm with the best reward in the nearest context."""

    def start(self, shape: Shape, rng: np.random.Generator) -> _Seen:
        return _Seen([], shape.n_features)

    @staticmethod
    def choose(state: _Seen, offer: Offer, rng: np.random.Generator) -> int:
        assert offer.context.shape == (state.n_features,)
        near = [row for row in state.rows if np.allclose(row[0], offer.context)]
        return max(near, key=lambda row: row[2])[1] if near else int(rng.choice(offer.arms))

    @staticmethod
    def learn(state: _Seen, case: Case, arm: int, reward: float, rng: Any) -> None:
        state.rows.append((case.context.tolist(), int(arm), float(reward)))


del Policy._known["nearest-of-tests"]  # no policy for the contract tests


def test_a_reward_is_learned_in_the_context_of_its_decision() -> None:
    bandit = bandit_of(Nearest(), "ab", propensities=False)
    for best, colour in (("a", "red"), ("b", "blue")):
        for arm in "ab":
            decision = bandit.decide({"colour": colour}, arms=[arm])
            bandit.reward(decision.id, float(arm == best))
    chosen = bandit.decide_many([{"colour": "red"}, {"colour": "blue"}, {"colour": "red"}])
    assert [decision.arm for decision in chosen] == ["a", "b", "a"]


def test_policies_without_contexts_still_log_them() -> None:
    bandit = bandit_of("thompson")
    for i in range(100):
        decision = bandit.decide([float(i), 1.0])
        bandit.reward(decision.id, 1.0)
    events = bandit.events()
    assert events["context"].drop_nulls().to_list() == [[float(i), 1.0] for i in range(100)]


@pytest.mark.parametrize("policy", ["lin-ucb", "squarecb:model=hashed"])
def test_half_of_a_pair_in_json_is_a_word_like_others(policy: str, tmp_path: Path) -> None:
    """Valid JSON may hold "\\ud800", which UTF-8 cannot encode."""
    store = f"sqlite:///{tmp_path}/x.db"
    context = {"word": "\ud800", "list": ["\udfff", "x"], "\ud801": 1.0}
    with Bandit(["a", "b"], policy, name="x", store=store) as bandit:
        decision = bandit.decide(context, id="1")
        bandit.reward(decision.id, 1.0)
        assert bandit.decide(context, id="1") == decision
        bandit.save(tmp_path / "x.giro")
    with Bandit.open(store, "x") as again:
        assert again.decide(context, id="1") == decision
    assert Bandit.load(tmp_path / "x.giro").decide(context, id="1") == decision
