"""Two processes that meet different new names at once agree on one schema."""

import multiprocessing
from typing import Any

import pytest
from bandit.conftest import address

from giro import Bandit
from giro.bandit.event import Event, Formed

_PATIENCE = 300.0  # seconds after which a child that hangs fails
_POLICY = "giro-ensemble:replicas=3"  # uses what is known of rounds and of arms


def _arms(*words: str) -> dict[str, dict[str, float]]:
    """Return two arms with a price, and with features that have these names."""
    return {arm: {"price": 2.0} | dict.fromkeys(words, 1.5) for arm in ("a", "b")}


def _meet(where: str, word: str, meeting: Any, answers: Any) -> None:
    """Decide with a name that the other process does not know, at the moment it does the same."""
    bandit = Bandit.open(where, "x")
    append, versions = bandit._store.append, list[int]()

    def together(events: list[Event], **rest: Any) -> Any:
        if isinstance(events[0], Formed):
            versions.append(events[0].version)
            if len(versions) == 1:
                meeting.wait(_PATIENCE)  # both have grown the same schema, neither is in the log
        return append(events, **rest)

    bandit._store.append = together  # type: ignore[method-assign,assignment]  # to meet
    ids = [bandit.decide({"age": 31.0, word: 1.5}, arms=_arms(f"{word} of arms")).id]
    meeting.wait(_PATIENCE)  # both names are in the log
    for i in range(5):
        context = {"age": 45.0, "city": 2.0, "height": 1.8 + i}
        ids.append(bandit.decide(context, arms=_arms("city of arms", "height of arms")).id)
    bandit.reward_many([(id, 1.0) for id in ids])
    meeting.wait(_PATIENCE)  # both have learned all of their own
    bandit._follower.follow()
    schema = bandit._state.schema
    assert schema is not None
    answers.put((versions, schema.to_json(), ids, bandit.n_rewards))
    bandit.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
def test_two_processes_that_meet_different_names_at_once_agree(kind: str, tmp_path: Any) -> None:
    where = address(kind, tmp_path)
    assert where is not None
    with Bandit(policy=_POLICY, name="x", store=where) as bandit:
        bandit.reward(bandit.decide({"age": 20.0}, arms=_arms()).id, 0.0)
    spawn = multiprocessing.get_context("spawn")
    meeting, answers = spawn.Barrier(2), spawn.Queue()
    children = [
        spawn.Process(target=_meet, args=(where, word, meeting, answers))
        for word in ("city", "height")
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(2 * _PATIENCE)
        assert child.exitcode == 0
    one, other = answers.get(), answers.get()
    assert sorted([one[0], other[0]]) == [[2], [2, 3]], "one of them had to grow again"
    assert one[1] == other[1]
    assert one[3] == other[3] == 13
    with Bandit.open(where, "x") as bandit:
        events = bandit.events()
        assert bandit._state.schema is not None
        assert bandit._state.schema.to_json() == one[1]
        decisions = events.filter(kind="decision")
        assert sorted(decisions["id"].to_list()[1:]) == sorted([*one[2], *other[2]])
        assert events.filter(kind="reward").height == decisions.height == 13
        assert [len(row) for row in decisions["context"]].count(3) >= 10
        names = {name for name, _, _ in one[1]["arms"]["features"]}
        assert names == {"price", "city of arms", "height of arms"}
        context = {"age": 1.0, "city": 2.0, "height": 3.0}
        assert bandit.decide(context, arms=_arms("city of arms")).arm in ("a", "b")
