"""A follower appends to a log, keeps up with others, and agrees with them on a schema."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bandit.clock import Clock

from giro import BadParameter, Bandit, Policy
from giro.bandit.event import ArmAdded, Began, Formed
from giro.bandit.follower import Follower
from giro.bandit.setting import Setting
from giro.bandit.stores import MemoryStore, Store, Taken, opened
from giro.errors import StoreError
from giro.features import Schema
from giro.features.columns import NUMBER, Feature


def began(policy: str = "lin-ucb:scale=1", **rest: Any) -> list[Any]:
    text = json.dumps(Setting(Policy.parse(policy), **rest).to_json())
    return [Began(0.0, text), ArmAdded(0.0, "a"), ArmAdded(0.0, "b")]


def follower_of(policy: str = "lin-ucb:scale=1", **rest: Any) -> Follower:
    store = MemoryStore()
    store.append(began(policy, **rest))
    return Follower(store, None, Clock())


def names(schema: Schema | None) -> list[str]:
    assert schema is not None
    return schema.context.names()  # type: ignore[union-attr]  # columns here


def numbers(*words: str) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    return tuple(Feature(word, NUMBER) for word in words), ()


def test_a_follower_begins_with_all_events() -> None:
    follower = follower_of()
    assert follower.state.arms == ["a", "b"]
    assert follower.state.position == follower.store.last() == 3
    follower.append([ArmAdded(1.0, "c")])
    assert follower.state.arms == ["a", "b", "c"]
    follower.close()
    follower.close()  # once more does no harm
    with pytest.raises(StoreError, match="the bandit is closed"):
        follower.append([ArmAdded(2.0, "d")])


def test_the_first_request_forms_the_schema_and_no_other() -> None:
    follower = follower_of()
    schema = follower.formed([{"x": 1.0}], None)
    assert names(schema) == ["x"]
    assert follower.formed([[1.0, 2.0]], None) is schema
    assert follower.state.version == 1
    kept = [event for event in follower.store.read(0, 99) if isinstance(event, Formed)]
    assert [Schema.from_json(json.loads(event.text)) for event in kept] == [schema]


def test_a_first_request_that_cannot_be_read_forms_nothing() -> None:
    follower = follower_of()
    wrong: list[Any] = [[[1.0], [1.0, 2.0]], [{"x": {1, 2}}], [{"x": 1.0}, [1.0]]]
    for contexts in wrong:
        with pytest.raises(BadParameter):
            follower.formed(contexts, None)
    assert follower.state.schema is None
    assert follower.store.last() == 3


def test_a_schema_grows_by_what_is_new_and_is_logged_once() -> None:
    follower = follower_of()
    first = follower.formed([{"x": 1.0}], None)
    second = follower.grown(first, numbers("y", "a"))
    assert names(second) == ["x", "a", "y"]
    assert follower.grown(first, numbers("y")) is second
    assert follower.grown(second, ((), ())) is second
    assert follower.state.version == 2
    live = follower.state.live
    assert live is not None
    assert live.schema == second
    assert live.shape.n_features == 3


def test_what_finds_no_room_is_warned_of_once() -> None:
    follower = follower_of(max_columns=2)
    schema = follower.formed([{"x": 1.0}], None)
    with pytest.warns(UserWarning, match="there are 2 columns, which is the most: .* 'y'"):
        schema = follower.grown(schema, numbers("y", "z"))
    assert names(schema) == ["x", "y"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert follower.grown(schema, numbers("z", "w")) is schema
    assert follower.state.version == 2


# -- several of them -----------------------------------------------------------------------------


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/x.db"


@pytest.fixture
def two(address: str) -> Iterator[list[Follower]]:
    """Return two followers of one log, as two processes have them."""
    stores: list[Store] = [opened(address, "b") for _ in range(2)]
    stores[0].append(began(name="b"))
    pair = [Follower(store, None, Clock()) for store in stores]
    yield pair
    for each in pair:
        each.close()


def test_a_follower_takes_in_what_another_appends(two: list[Follower]) -> None:
    one, other = two
    one.append([ArmAdded(1.0, "c")])
    assert other.state.arms == ["a", "b"]
    other.follow()
    assert other.state.arms == ["a", "b", "c"]
    one.append([ArmAdded(2.0, "d")])
    other.append([ArmAdded(3.0, "e")])  # behind an event that it has not seen
    assert other.state.arms == ["a", "b", "c", "d", "e"]
    one.follow()
    assert one.state.arms == other.state.arms
    assert one.state.position == other.state.position == one.store.last()


def test_of_two_first_schemas_that_which_is_first_in_the_log_counts(two: list[Follower]) -> None:
    one, other = two
    mine = one.formed([{"x": 1.0}], None)
    assert other.formed([[1.0, 2.0]], None) == mine
    assert names(other.state.schema) == ["x"]


def test_two_that_meet_different_names_at_once_agree(two: list[Follower]) -> None:
    one, other = two
    first = one.formed([{"x": 1.0}], None)
    other.follow()
    assert names(one.grown(first, numbers("z"))) == ["x", "z"]
    assert other.state.version == 1  # has not seen it
    assert names(other.grown(first, numbers("a"))) == ["x", "z", "a"]
    one.follow()
    assert one.state.schema == other.state.schema
    assert one.state.version == other.state.version == 3
    assert names(one.grown(first, numbers("a", "z"))) == ["x", "z", "a"]
    assert one.state.version == 3


def test_a_schema_that_did_not_grow_from_the_last_is_taken(two: list[Follower]) -> None:
    one, other = two
    first = one.formed([{"x": 1.0}], None)
    text = json.dumps(first.grown(numbers("y")).to_json())
    one.append([Formed(1.0, text, 2)])
    with pytest.raises(Taken):
        other.store.append([Formed(1.0, text, 2)])
    with pytest.raises(Taken):
        other.store.append([Formed(1.0, text, 4)])


def test_another_policy_begins_again_and_learns_all(two: list[Follower], address: str) -> None:
    _, other = two
    with Bandit.open(address, "b", "lin-ucb:scale=0.2") as bandit:
        bandit.reward(bandit.decide({"x": 1.0}).id, 1.0)
    other.follow()
    assert other.state.setting.policy.text == "lin-ucb:scale=0.2"
    assert other.state.live is not None
    assert other.state.live.learned == 1
