"""Many decisions at once are those that single calls make, and leave the same behind."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from bandit.clock import counted

from giro import BadParameter, Bandit, Decision
from giro.bandit.stores import Taken
from giro.live import LivePolicy
from giro.seeds import stream

N = 40
WORDS = ("red", "green", None)
MAPPINGS = [
    {"age": float(i % 7), "colour": WORDS[i % 3], "old": i % 2 == 0, "_note": i} for i in range(N)
]
FRAME = pl.DataFrame(MAPPINGS)
ROWS = stream(3, 1).normal(size=(N, 3))
OF_ARMS: dict[str, Any] = {"a": {"size": 1.0}, "b": {"size": 2.0}, "c": {"size": 0.5, "word": "x"}}

CASES: dict[str, tuple[str, Any, dict[str, Any], dict[str, Any]]] = {
    "nothing known": ("thompson", N, {}, {}),
    "nothing known, a floor": ("giro", N, {"floor": 0.1}, {}),
    "no propensities": ("thompson", N, {"propensities": False}, {}),
    "no exact propensities": ("giro-ensemble", N, {}, {}),
    "numbers": ("lin-ucb", ROWS, {}, {}),
    "lists of numbers": ("lin-ucb", ROWS.tolist(), {}, {}),
    "contexts that the policy does not see": ("ucb1", MAPPINGS, {}, {}),
    "mappings": ("lin-ucb", MAPPINGS, {}, {}),
    "a frame": ("lin-ucb", FRAME, {}, {}),
    "a frame of pandas": ("lin-ucb", pd.DataFrame(MAPPINGS), {}, {}),
    "words that are hashed": ("lin-ucb", FRAME, {"features": None}, {}),
    "features of arms": ("squarecb", MAPPINGS, {}, {"arms": OF_ARMS}),
    "some arms": ("thompson", N, {}, {"arms": ["c", "a"]}),
    "one arm": ("thompson", N, {}, {"arms": ["c"]}),
    "a share": ("thompson", N, {"share": 0.5}, {}),
    "a baseline": ("thompson", N, {"share": 0.5}, {"baseline": "b"}),
}
FEATURES = {"age": "number", "colour": ["red", "green"], "old": "number"}


def twins(
    policy: str, contexts: Any, options: dict[str, Any], *, rewarded: bool = True, **rest: Any
) -> tuple[Bandit, Bandit]:
    """Return two bandits that have learned the same from contexts like these."""
    given = list(contexts.to_dicts()) if isinstance(contexts, pl.DataFrame) else contexts
    given = given.to_dict("records") if isinstance(given, pd.DataFrame) else given
    given = [None] * given if isinstance(given, int) else given
    bandits = []
    for _ in range(2):
        clock = itertools.count(1_000.0, 1e-4).__next__
        bandit = Bandit(list("abc"), policy, seed=3, clock=clock, ids=counted(), **options)
        for i in range(30):
            decision = bandit.decide(given[i], arms=rest.get("arms"))
            if rewarded:
                bandit.reward(decision.id, float(i % 3 == 0))
        bandits.append(bandit)
    return bandits[0], bandits[1]


def content(decision: Decision) -> tuple[Any, ...]:
    """Return all of a decision but its time."""
    plain = decision.__getstate__()
    return plain[0], *plain[2:]


def left_behind(bandit: Bandit) -> tuple[Any, ...]:
    """Return the log without its times, and all that was counted."""
    state = bandit._state
    about, arrays = state.counts.snapshot()
    recent = [event.id for event in state.counts.watch.recent]
    pending = {id: tuple(map(str, each._replace(time=0.0))) for id, each in state._pending.items()}
    return (
        bandit.events().drop("time").to_dicts(),
        json.dumps(about),
        {name: array.tolist() for name, array in arrays.items()},
        (recent, pending, list(pending), state.cold_start.to_json(), state.position),
    )


@pytest.mark.parametrize("name", CASES)
def test_many_decisions_are_those_of_single_calls(name: str) -> None:
    policy, contexts, options, rest = CASES[name]
    if "frame" in name or name == "mappings":
        options = {"features": FEATURES, **options}
    one, other = twins(policy, contexts, options, **rest)
    together = one.decide_many(contexts, **rest)
    if isinstance(contexts, int):
        each: list[Any] = [None] * contexts
    elif isinstance(contexts, pl.DataFrame):
        each = contexts.to_dicts()
    else:
        each = MAPPINGS if isinstance(contexts, pd.DataFrame) else list(contexts)
    alone = [other.decide(context, **rest) for context in each]
    assert list(map(content, together)) == list(map(content, alone))
    assert left_behind(one) == left_behind(other)
    for bandit, decisions in ((one, together), (other, alone)):
        bandit.reward_many([(d.id, float(i % 2)) for i, d in enumerate(decisions)])
    assert content(one.decide(each[0], **rest)) == content(other.decide(each[0], **rest))


@pytest.mark.parametrize(
    "contexts",
    [
        pytest.param([{"x": 1.0}] * 5 + [{"x": 2.0, "new": "word"}], id="new names"),
        pytest.param(pl.DataFrame({"x": [1.0, 2.0], "new": [1, 2]}), id="a new column"),
        pytest.param(pl.DataFrame({"x": ["a", "b"]}), id="words where numbers were"),
        pytest.param(pl.DataFrame({"x": [[1.0], [2.0]]}), id="lists"),
        pytest.param(pd.DataFrame({"x": [1.0, 2.0], 5: [1, 2]}), id="a name that is a number"),
    ],
)
def test_requests_that_are_special_go_one_by_one(contexts: Any) -> None:
    one, other = twins("lin-ucb", [{"x": float(i)} for i in range(N)], {})
    each = contexts
    if isinstance(contexts, pl.DataFrame):
        each = contexts.to_dicts()
    elif isinstance(contexts, pd.DataFrame):
        with pytest.raises(BadParameter, match="names of features are words"):
            one.decide_many(contexts)
        return
    together = one.decide_many(contexts)
    alone = [other.decide(context) for context in each]
    assert [d.arm for d in together] == [d.arm for d in alone]
    assert one._state.schema == other._state.schema


def test_arms_that_wait_for_their_first_reward_are_left_out_among_many() -> None:
    one, other = twins("ucb1", N, {"first_decisions": 4}, rewarded=False)
    for bandit in (one, other):
        bandit.add_arm("new")
        bandit.reward("0", 1.0)
    together = one.decide_many(20)
    assert [d.arm for d in together] == [other.decide().arm for _ in range(20)]
    assert left_behind(one)[-1][3:] == left_behind(other)[-1][3:]


def test_open_arms_with_hashed_features() -> None:
    contexts = [{"hour": float(i), "from": "x"} for i in range(12)]
    bandits = []
    for _ in range(2):
        bandit = Bandit(None, "squarecb:model=hashed", seed=1, ids=counted())
        for i in range(12):
            decision = bandit.decide(contexts[i], arms=OF_ARMS)
            bandit.reward(decision.id, float(decision.arm == "b"))
        bandits.append(bandit)
    together = bandits[0].decide_many(contexts, arms=OF_ARMS)
    alone = [bandits[1].decide(context, arms=OF_ARMS) for context in contexts]
    assert list(map(content, together)) == list(map(content, alone))


@pytest.mark.parametrize("batches", [1, 3])
def test_what_is_shared_is_worked_out_once(monkeypatch: pytest.MonkeyPatch, batches: int) -> None:
    bandit, _ = twins("thompson", N, {})
    calls = list[int]()
    draw: Callable[..., Any] = LivePolicy.draw

    def counting(self: Any, *arguments: Any, **rest: Any) -> Any:
        calls.append(1)
        return draw(self, *arguments, **rest)

    monkeypatch.setattr(LivePolicy, "draw", counting)
    for _ in range(batches):
        bandit.decide_many(500)
    assert len(calls) == batches


def test_an_id_that_is_taken_leaves_nothing_behind() -> None:
    ids = iter(["x", *(str(i) for i in range(30)), "y", "z", "x"])
    bandit = Bandit(["a", "b"], "thompson", ids=ids.__next__, first_decisions=None)
    bandit.reward(bandit.decide().id, 1.0)
    bandit.decide_many(30)
    before = left_behind(bandit)
    with pytest.raises(Taken):
        bandit.decide_many(3)
    assert left_behind(bandit) == before


def test_many_in_a_store_are_followed_by_others(tmp_path: Any) -> None:
    where: dict[str, Any] = {"name": "b", "store": f"sqlite:///{tmp_path}/x.db"}
    with Bandit(["a", "b"], "thompson", first_decisions=None, **where) as bandit:
        bandit.reward(bandit.decide().id, 1.0)
        decisions = bandit.decide_many(300)
        bandit.reward_many([(d.id, 1.0) for d in decisions[:7]])
        with Bandit.open(where["store"], "b", read_only=True) as other:
            assert (other.n_decisions, other.n_rewards) == (301, 8)
            assert other.events(since=0)["id"].n_unique() == 302


def test_rows_do_not_keep_each_other() -> None:
    bandit, _ = twins("lin-ucb", ROWS, {})
    bandit.decide_many(np.ones((10, 3)))
    rows = [each.case.context for each in list(bandit._state._pending.values())[-10:]]
    assert all(row.base is None for row in rows)


@pytest.mark.parametrize("policy", ["lin-ucb", "lin-ts", "rand-ucb"])
def test_rows_of_numbers_are_drawn_in_one_call(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = twins(policy, ROWS, {"floor": 0.05})
    singles = [one.decide(row) for row in ROWS]
    monkeypatch.delattr(LivePolicy, "draw")
    assert other.decide_many(ROWS) == singles
