"""Schemas: plain data that says how requests become numbers, and that grows."""

import json
import math
from typing import Any

import numpy as np
import pytest

from giro import BadParameter
from giro.features import Columns, Hashed, Schema, declared
from giro.features.columns import HASH_COLUMNS, NUMBER, Feature
from giro.features.schema import absent_parts, check_fits, checked_interactions, fitted
from giro.hashing import MOST_CROSSES

NAN = math.nan
ARMS: Any = {"p": {"price": 3.0, "kind": "tea"}, "q": {"price": 4.0}}


def names_in(schema: Schema) -> list[str]:
    assert isinstance(schema.context, Columns)
    return schema.context.names()


def same(left: Any, right: Any) -> bool:
    return bool(np.array_equal(left, right, equal_nan=True))


def of_names(context: str, arms: str = "", **more: Any) -> Schema:
    """Return the schema of numbers with these one-letter names."""
    rows = Columns.of_names(arms, "a row of features") if arms else None
    return Schema(Columns.of_names(context), rows, contextual=True, **more)


# -- the first request -------------------------------------------------------------------------


def test_the_first_request_decides_the_form() -> None:
    assert fitted([1.0, 2.0], None, Schema()) == Schema.of_numbers(2)
    both = fitted([1.0, 2.0], {"p": [1.0, 2.0, 3.0]}, Schema())
    assert both == Schema.of_numbers(2, 3)
    assert fitted(None, None, Schema()) == Schema()
    assert not Schema().contextual
    named = fitted({"b": 1.0, "a": {"c": "w"}}, ARMS, Schema())
    assert named.contextual
    assert named.steps == ()
    assert names_in(named) == [*HASH_COLUMNS * ["a.c"], "b"]
    assert isinstance(named.arms, Columns)
    assert named.arms.names() == [*HASH_COLUMNS * ["kind"], "price"]
    assert named.widths == (HASH_COLUMNS + 1, HASH_COLUMNS + 1)


def test_an_empty_first_context_is_one() -> None:
    schema = fitted({}, None, Schema())
    assert schema.contextual
    assert schema.widths == (0, 0)
    assert schema.layout == ((-1, -1),)
    later = schema.grown(schema.encode({"x": 1.0}).new)
    assert later.layout == ((-1, -1), (0, -1))


def test_declared_features_come_first() -> None:
    empty = Schema(Columns(0, declared({"z": "number", "w": ["u", "v"]})), contextual=True)
    schema = fitted({"a": 1.0, "z": 2.0}, None, empty)
    assert names_in(schema) == ["z", "w", "w", "w", "a"]
    with pytest.raises(BadParameter, match="'z' is a number, got 'old'"):
        fitted({"z": "old"}, None, empty)
    with pytest.raises(BadParameter, match="wants a context of the features z, w, got 2 numbers"):
        fitted([1.0, 2.0], None, empty)


def test_a_first_arm_that_cannot_be_read_is_named() -> None:
    infinite: Any = {"p": None, "q": [math.inf]}
    with pytest.raises(BadParameter, match=r"arm 'q': a row of features holds numbers within"):
        fitted(None, infinite, Schema())
    with pytest.raises(BadParameter, match=r"arm 'q': .* of 1 numbers, got 2 numbers"):
        fitted(None, {"p": [1.0], "q": [1.0, 2.0]}, Schema())


@pytest.mark.parametrize("arms", [{"p": {}}, {"p": None, "q": {}}, {"p": {"x": None}}])
def test_first_arms_without_any_feature_are_an_error(arms: Any) -> None:
    with pytest.raises(BadParameter, match="these arms have no features"):
        fitted(None, arms, Schema())


def test_requests_fit_if_they_can_be_encoded() -> None:
    check_fits(of_names("a", "x"), [{"a": 1.0}, {"b": 1.0}, None], {"p": {"x": 1.0, "y": "w"}})
    check_fits(Schema.of_numbers(2), [[1.0, 2.0]], ["p"])
    wrong: list[Any] = [[1.0], {"a": 1.0}]
    for context in wrong:
        with pytest.raises(BadParameter, match="wants a context of 2 numbers"):
            check_fits(Schema.of_numbers(2), [[1.0, 2.0], context], None)


def test_hashed_features_have_no_form() -> None:
    empty = Schema.of_hashes(("user*item",))
    assert fitted([1.0], ARMS, empty) is empty
    assert empty.is_sparse
    assert empty.widths == (0, 0)
    assert not Schema.of_numbers(1).is_sparse


# -- encoding ----------------------------------------------------------------------------------


def test_contexts_and_arms_are_encoded_side_by_side() -> None:
    schema = of_names("ab", "xy")
    context, features, new = schema.encode({"a": 1.0}, {"p": {"x": 2.0, "y": 3.0}, "q": {"y": 4}})
    assert same(context, [1.0, NAN])
    assert same(features, [[2.0, 3.0], [NAN, 4.0]])
    assert new == ((), ())
    assert of_names("ab").encode({"b": 1.0}).features.shape == (0, 0)
    assert Schema().encode(None).context.size == 0


@pytest.mark.parametrize("nothing", [None, {}])
def test_an_arm_without_features_is_missing_or_encoded_by_its_name(nothing: Any) -> None:
    arms = {"p": {"x": 2.0}, "q": nothing}
    assert same(of_names("a", "x").encode({}, arms).features, [[2.0], [NAN]])
    hashed = Schema.of_hashes().encode({}, arms).features
    assert hashed.begin.tolist() == [0, 1, 2]
    assert hashed.column[1:].tolist() == Hashed().arms(["q"]).column.tolist()


@pytest.mark.parametrize("nothing", [None, {}])
def test_an_arm_without_features_is_missing_among_sequences(nothing: Any) -> None:
    schema = fitted(None, {"q": nothing, "p": [1.0, 2.0]}, Schema())
    assert schema == Schema.of_numbers(0, 2)
    found = schema.encode(None, {"p": [1.0, 2.0], "q": nothing}).features
    assert same(found, [[1.0, 2.0], [NAN, NAN]])


def test_errors_name_the_arm() -> None:
    with pytest.raises(BadParameter, match=r"arm 'q': .*a row of features of 2 numbers, got 1"):
        Schema.of_numbers(0, 2).encode(None, {"p": [1.0, 2.0], "q": [1.0]})
    with pytest.raises(BadParameter, match="needs features of its arms"):
        of_names("a", "x").encode({}, ["p", "q"])
    with pytest.raises(BadParameter, match="have no features: name them in a list"):
        of_names("a").encode({}, {"p": {"x": 1.0}})


def test_new_names_of_contexts_and_of_arms_are_told_apart() -> None:
    new = of_names("a", "x").encode({"b": 1.0}, {"p": {"b": "w"}, "q": {"b": "v"}}).new
    assert new == ((Feature("b", NUMBER),), (Feature("b", HASH_COLUMNS),))


# -- growing -----------------------------------------------------------------------------------


def test_a_schema_grows_and_remembers_how_wide_it_was() -> None:
    first = of_names("a", "x")
    second = first.grown(first.encode({"b": 1.0}, {"p": {}}).new)
    third = second.grown(second.encode({}, {"p": {"y": 1.0}}).new)
    assert (second.widths, second.steps) == ((2, 1), ((1, 1),))
    assert (third.widths, third.steps) == ((2, 2), ((1, 1), (2, 1)))
    assert third.grown(third.encode({"a": 1.0}, {"p": {"y": 2.0}}).new) is third
    assert third.upto((1, 1)) == first
    assert third.upto((2, 1)) == second
    assert third.upto((2, 2)) == third
    assert first.lacks(((), (Feature("y", NUMBER),)))
    assert not third.lacks(((Feature("b", NUMBER),), (Feature("y", NUMBER),)))


def test_a_schema_without_contexts_grows_to_one_with_them() -> None:
    first = Schema()
    second = first.grown(((Feature("a", NUMBER),), ()))
    assert second.contextual
    assert second.layout == ((-1, -1), (0, -1))
    assert second.upto((0, 0)) == first._replace(contextual=second.upto((0, 0)).contextual)


def test_there_are_at_most_so_many_columns_on_each_side() -> None:
    schema = of_names("ab", "x", max_columns=3)
    new = schema.encode({"c": 1.0, "d": 1.0}, {"p": {"w": "word", "y": 2.0}}).new
    grown = schema.grown(new)
    assert grown.widths == (3, 2)
    assert grown.lacks(new)
    assert grown.grown(new) is grown


def test_hashed_features_never_grow() -> None:
    schema = Schema.of_hashes()
    assert schema.grown(((Feature("a", NUMBER),), ())) is schema
    assert not schema.lacks(((Feature("a", NUMBER),), ()))


# -- columns of a regression -------------------------------------------------------------------


def layout_of(schema: Schema) -> list[str]:
    """Return the columns of a regression as products of names."""
    assert isinstance(schema.context, Columns)
    left = [*schema.context.names(), ""]  # -1 is none
    right = [*(schema.arms.names() if isinstance(schema.arms, Columns) else ()), ""]
    return ["*".join(filter(None, (left[i], right[j]))) or "1" for i, j in schema.layout]


def test_a_regression_has_contexts_arms_products_and_a_constant() -> None:
    assert layout_of(of_names("ab")) == ["a", "b", "1"]
    assert layout_of(of_names("ab", "xy")) == "a b x y a*x a*y b*x b*y 1".split()
    assert layout_of(Schema()) == ["1"]


def test_columns_of_a_regression_keep_their_places_when_a_schema_grows() -> None:
    first = of_names("a", "x")
    second = first.grown(((Feature("b", NUMBER),), ()))
    third = second.grown(((), (Feature("y", NUMBER),)))
    assert layout_of(third) == "a x a*x 1 b b*x y a*y b*y".split()
    assert third.layout[: len(second.layout)] == second.layout
    assert second.layout[: len(first.layout)] == first.layout


def test_interactions_say_what_is_multiplied() -> None:
    some = of_names("ab", "xy", interactions=("b*arm", "a*y"))
    assert layout_of(some) == "a b x y a*y b*x b*y 1".split()
    assert layout_of(of_names("ab", "xy", interactions=())) == "a b x y 1".split()
    waiting = of_names("a", "x", interactions=("b*x",))
    assert layout_of(waiting) == "a x 1".split()
    assert layout_of(waiting.grown(((Feature("b", NUMBER),), ()))) == "a x 1 b b*x".split()


def test_too_many_products_are_none_but_those_that_were_there_stay() -> None:
    assert len(Schema.of_numbers(20, 25).layout) == 20 + 25 + 500 + 1
    assert len(Schema.of_numbers(20, 26).layout) == 20 + 26 + 1
    small = Schema(
        Columns.of_names(f"c{i}" for i in range(20)),
        Columns.of_names(f"x{i}" for i in range(25)),
        contextual=True,
    )
    grown = small.grown(((Feature("d", NUMBER),), ()))
    assert grown.layout == (*small.layout, (20, -1))


def test_only_numbers_are_standardised() -> None:
    schema = fitted({"n": 1.0, "w": "v"}, {"p": {"x": 2.0}}, Schema())
    of_context, of_arms = schema.standardised
    assert of_context.tolist() == [True] + HASH_COLUMNS * [False]
    assert of_arms.tolist() == [True]
    bare = Schema.of_numbers(2, 3, standardise=False).standardised
    assert [part.any() for part in bare] == [False, False]
    assert [part.size for part in bare] == [2, 3]
    assert [part.size for part in Schema.of_hashes().standardised] == [0, 0]


# -- translating -------------------------------------------------------------------------------


def test_rows_are_translated_by_their_names() -> None:
    one = of_names("ab", "xy")
    other = of_names("cba", "yzx")
    context, features, _ = one.encode({"a": 1.0}, {"p": {"x": 2.0}, "q": {"y": 3.0}})
    moved = one.translated(context, features, other)
    wanted = other.encode({"a": 1.0}, {"p": {"x": 2.0}, "q": {"y": 3.0}})
    assert same(moved[0], wanted.context)
    assert same(moved[1], wanted.features)
    assert one.translated(context, features, one) == (context, features)


def test_rows_are_translated_to_hashes_by_their_names() -> None:
    words = {"n": "number", "w": ["u", "v"]}
    one = Schema(Columns(0, declared(words)), Columns.of_names("xy"), contextual=True)
    other = Schema.of_hashes(("n*x",))
    given = {"n": 1.5, "w": ["v"]}, {"p": {"x": 2.0}, "q": {"y": 3.0}}
    rows = one.encode(*given)
    moved, wanted = one.translated(rows.context, rows.features, other), other.encode(*given)
    for part, whole in zip(moved, wanted[:2], strict=True):
        for column, its in zip(part, whole, strict=True):
            assert same(column, its)
    sparse = other.translated(wanted.context, wanted.features, one)
    assert sparse[0] is wanted.context


# -- plain data --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        Schema(),
        Schema.of_numbers(3, 2),
        Schema.of_numbers(3, standardise=False),
        Schema.of_hashes(("user*item",), standardise=False),
        of_names("ab", "x", interactions=("a*x",), max_columns=7),
        fitted({"n": 1.0, "w": "v"}, ARMS, Schema()).grown(((Feature("m", NUMBER),), ())),
        Schema(Columns(0, declared({"c": ["de", "fr"]})), contextual=True),
    ],
    ids=str,
)
def test_schemas_are_written_and_read(schema: Schema) -> None:
    read = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert read == schema
    assert read.layout == schema.layout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("user*item", "interactions is a list"),
        (7, "interactions is a list"),
        (["user"], "an interaction is written 'user\\*item', got 'user'"),
        (["a*b*c"], "is written"),
        (["user*"], "is written"),
        ([3], "is written"),
        ([f"a*x{i}" for i in range(MOST_CROSSES + 1)], f"there can be {MOST_CROSSES}"),
    ],
)
def test_interactions_are_checked(given: Any, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        checked_interactions(given)


def test_interactions_are_kept_without_spaces() -> None:
    assert checked_interactions([" user.age * arm "]) == ("user.age*arm",)
    assert checked_interactions(()) == ()
    assert checked_interactions(None) is None


def test_parts_of_interactions_that_name_nothing_are_told_once() -> None:
    schema = of_names("a", "x", interactions=("a*x", "user*y", "user*arm", "context*y", "b.c*x"))
    assert absent_parts(schema, {"a": 1.0, "b": {"c": "w"}}, {"p": {"x": 1.0}}) == ["user", "y"]
    assert absent_parts(schema._replace(interactions=None), {}, {}) == []
    in_places = Schema.of_numbers(2, 1)._replace(interactions=("1*0", "2*0"))
    assert absent_parts(in_places, [1.0, 2.0], {"p": [1.0]}) == ["2"]
