"""What all doors share."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from service.conftest import SECRET, Client

from giro import Ask, UnknownDecision
from giro.service.about import About

Served = Callable[..., None]


async def running_in(ask: Client, name: str = "x") -> Any:
    await ask.service.bandits.create(name, {"arms": ["a", "b"], "policy": "ucb1"}, About())
    return await ask.service.bandits.get(name)


def test_records_that_are_written_or_read_at_once_share_a_call(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def game(ask: Client) -> None:
        service, groups = ask.service, list[int]()
        put_each = service.records.put_each

        def counted(kind: str, changes: list[Any], **more: Any) -> list[bool]:
            groups.append(len(changes))
            return put_each(kind, changes, **more)

        monkeypatch.setattr(service.records, "put_each", counted)
        await asyncio.gather(*(service.put("k", str(i), i) for i in range(50)))
        assert sum(groups) == 50 and len(groups) < 25
        records = await asyncio.gather(*(service.get("k", str(i)) for i in range(51)))
        assert [record and record.value for record in records] == [*range(50), None]

    served(game)


@pytest.mark.parametrize("slots", [None, 2])
def test_a_reward_activates_where_the_door_says_so(served: Served, slots: int | None) -> None:
    async def game(ask: Client) -> None:
        service = ask.service
        running, key = await running_in(ask), service.keys.key_of(SECRET)
        wish = Ask(slots=slots, deferred=True)
        decisions = await service.decide(running, wish, activates=True)
        assert running.bandit.n_decisions == 0
        await service.reward(decisions[0].id, 1.0, key)
        bandit = running.bandit
        assert (bandit.n_decisions, bandit.n_rewards) == (slots or 1, 1)
        await service.activate(decisions[-1].id, key)
        with pytest.raises(UnknownDecision):
            await service.activate("nobody", key)

    served(game)


def test_a_deferred_ranking_keeps_the_rewards_of_its_slots(served: Served) -> None:
    async def game(ask: Client) -> None:
        service = ask.service
        running, key = await running_in(ask), service.keys.key_of(SECRET)
        first, second = await service.decide(running, Ask(id="r", slots=2, deferred=True))
        again = await service.decide(running, Ask(id="r", slots=2, deferred=True))
        assert again == [first, second]
        await service.reward_in(running, second.id, 1.0)
        await service.activate(first.id, key)
        assert running.bandit.summary().filter(arm=second.arm)["rewards"].item() == 1
        assert running.bandit.n_decisions == 2

    served(game)


def test_keys_are_followed(served: Served) -> None:
    async def game(ask: Client) -> None:
        secret = await ask.key(scopes=["read"])
        key = ask.service.keys.key_of(secret)
        assert (await ask("GET", "/v1/bandits", key=secret)).status_code == 200
        ask.service.records.delete("key", key.id)
        await ask.service.follow_once()
        assert (await ask("GET", "/v1/bandits", key=secret)).status_code == 401

    served(game)


def test_records_that_stay_for_ever_new_times_leave_nothing_behind(served: Served) -> None:
    async def game(ask: Client) -> None:
        service: Any = ask.service
        times = [service.put("kind", f"name {n}", n, seconds=60.0 + n) for n in range(10)]
        assert all(await asyncio.gather(*times))
        assert [(await service.get("kind", f"name {n}")).value for n in range(10)] == [*range(10)]
        assert not service._writes

    served(game)
