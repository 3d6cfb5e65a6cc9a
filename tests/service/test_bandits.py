"""Bandits in a process of the service."""

import asyncio
import gc
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from service.conftest import Client

from giro import Ask, Bandit, GiroError
from giro.service.about import About
from giro.service.bandits import bandit_in
from giro.service.errors import Problem
from giro.service.messages import NewBandit
from giro.service.settings import Limits

Served = Callable[..., None]


def test_a_bandit_is_opened_once_and_one_that_is_not_there_is_a_problem(served: Served) -> None:
    async def game(ask: Client) -> None:
        bandits = ask.service.bandits
        with pytest.raises(Problem, match="no bandit 'x'"):
            await bandits.get("x")
        assert await bandits.create("x", {"arms": ["a", "b"], "policy": "ucb1"}, About())
        assert not await bandits.create("x", {"arms": ["a", "b"], "policy": "ucb1"}, About())
        first, second = await asyncio.gather(bandits.get("x"), bandits.get("x"))
        assert first is second
        assert bandits.running() == [first]

    served(game)


def test_callers_can_bring_few_names_of_features_unless_a_bandit_says_otherwise(
    served: Served,
) -> None:
    async def game(ask: Client) -> None:
        await ask.service.bandits.create("x", {"policy": "lin-ucb"}, About())
        await ask.service.bandits.create("y", {"policy": "lin-ucb", "max_columns": 3}, About())
        most = [
            (await ask("GET", f"/v1/bandits/{name}")).json()["setting"]["max_columns"]
            for name in "xy"
        ]
        assert most == [200, 3]

    served(game)


def test_a_bandit_too_many_is_let_go_and_opened_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("giro.service.bandits._PARTING", 0.0)

    async def game(ask: Client) -> None:
        bandits = ask.service.bandits
        for name in "xyz":
            await bandits.create(name, {"arms": ["a", "b"], "policy": "ucb1"}, About())
        kept, first = await bandits.get("kept"), await bandits.get("x")
        (decision,) = await first.decide(Ask())
        await asyncio.gather(bandits.get("y"), bandits.get("z"))
        await bandits.get("y")
        while bandits.n_parting:
            await asyncio.sleep(0.001)
        assert bandits.running() == [kept, await bandits.get("z"), await bandits.get("y")]
        with pytest.raises(GiroError, match="closed"):
            await first.decide(Ask())
        again = await bandits.get("x")
        assert again is not first
        await again.reward(decision.id, 1.0)
        assert (again.bandit.n_decisions, again.bandit.n_rewards) == (1, 1)
        assert [running.name for running in bandits.running()] == ["kept", "y", "x"]

    limits, new = Limits(bandits=3), NewBandit(name="kept", arms=["a", "b"], policy="ucb1")
    served(game, limits=limits, bandits=[new])


def test_a_bandit_that_was_let_go_gives_default_rewards_when_they_are_due(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("giro.service.bandits._PARTING", 0.0)

    async def game(ask: Client) -> None:
        bandits = ask.service.bandits
        setting = {"arms": ["a", "b"], "policy": "ucb1", "reward_wait": 3600.0}
        for name in "xy":
            await bandits.create(name, setting, About())
        running = await bandits.get("x")
        await running.decide(Ask())
        await bandits.get("y")
        while bandits.n_parting:
            await asyncio.sleep(0.001)
        assert [each.name for each in bandits.running()] == ["y"]
        await bandits.follow()
        assert [each.name for each in bandits.running()] == ["y"], "an hour is not over"
        with Bandit.open(bandits.store, "x") as bandit:
            bandit.change(reward_wait=1e-6)
        bandits._due["x"] = 0.0
        await bandits.follow()
        (running,) = bandits.running()
        assert (running.name, running.bandit.n_rewards) == ("x", 1)

    served(game, limits=Limits(bandits=1))


def test_bandits_that_are_let_go_leave_nothing_in_memory_which_is_given_back(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("giro.service.bandits._PARTING", 0.0)
    monkeypatch.setattr(Bandit, "compile_aside", lambda *_, **__: None)
    monkeypatch.setattr(Bandit, "get_ready", lambda _: None)
    calls = Counter[str]()
    monkeypatch.setattr("giro.service.bandits.give_back", lambda: calls.update(["give back"]))

    async def game(ask: Client) -> None:
        service: Any = ask.service
        service._following.cancel()  # this test does that itself
        bandits = service.bandits
        names = [f"x{n}" for n in range(12)]
        for name in names:
            await bandits.create(name, {"arms": ["a", "b"], "policy": "ucb1"}, About())
        await ask.service.follow_once()
        assert not calls
        alive = weakref.WeakSet[object]()
        for turn in range(2):
            body = {"context": {"targetingKey": f"visitor {turn}"}}
            assert len((await ask.post("/ofrep/v1/evaluate/flags", body))["flags"]) == 12
            for name in names:
                running = await bandits.get(name)
                await running.decide(Ask())
                alive |= {running, running.bandit, running.bandit._follower}
            del running
            while bandits.n_parting:
                await asyncio.sleep(0.001)
        for running in bandits.running():
            await running.prepared()
        del running
        await asyncio.to_thread(gc.collect)
        assert len(alive) == 3 * len(bandits.running()) == 6
        for _ in range(2):
            await ask.service.follow_once()
        assert calls["give back"] == 1

    served(game, limits=Limits(bandits=2))


def test_bandits_that_are_let_go_leave_before_many_others_are_opened(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("giro.service.bandits._PARTING", 0.01)
    monkeypatch.setattr("giro.service.bandits._MOST_PARTING", 2)
    monkeypatch.setattr("giro.service.bandits._AT_ONCE", 1)
    most, open_one = Counter[str](), Bandit.open

    async def game(ask: Client) -> None:
        bandits = ask.service.bandits

        def watched(*arguments: Any, **parameters: Any) -> Bandit:
            most["ever"] = max(most["ever"], bandits.n_parting)
            return open_one(*arguments, **parameters)

        monkeypatch.setattr(Bandit, "open", watched)
        for n in range(12):
            await bandits.create(f"x{n}", {"arms": ["a", "b"], "policy": "ucb1"}, About())
        body = {"context": {"targetingKey": "ann"}}
        assert len((await ask.post("/ofrep/v1/evaluate/flags", body))["flags"]) == 12
        assert most["ever"] <= 3

    served(game, limits=Limits(bandits=1))


def test_one_request_for_all_bandits_does_not_open_them_all_at_once(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, most = Counter[str](), Counter[str]()
    open_one = Bandit.open

    def watched(*arguments: Any, **parameters: Any) -> Bandit:
        opening["now"] += 1
        most["ever"] = max(most["ever"], opening["now"])
        try:
            time.sleep(0.01)  # so that others could begin
            return open_one(*arguments, **parameters)
        finally:
            opening["now"] -= 1

    monkeypatch.setattr(Bandit, "open", watched)

    async def game(ask: Client) -> None:
        for n in range(12):
            new = {"arms": ["a", "b"], "policy": "ucb1"}
            await ask.service.bandits.create(f"x{n}", new, About())
        body = {"context": {"targetingKey": "ann"}}
        assert len((await ask.post("/ofrep/v1/evaluate/flags", body))["flags"]) == 12
        assert 1 <= most["ever"] <= 4

    served(game)


def test_a_bandit_decides_at_once_and_with_its_policy_when_that_is_compiled(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def compile_aside(bandit: Bandit, stop: Callable[[], bool]) -> None:
        asked.append(stop())

    monkeypatch.setattr(Bandit, "compile_aside", compile_aside)

    async def game(ask: Client) -> None:
        bandits = ask.service.bandits
        await bandits.create("x", {"arms": ["a", "b"], "policy": "ucb1"}, About())
        running = await bandits.get("x")
        (decision,) = await running.decide(Ask())
        assert decision.propensities == {"a": 0.5, "b": 0.5}
        await running.reward(decision.id, 1.0)
        await running.prepared()
        assert running.bandit.is_ready
        (decision,) = await running.decide(Ask())
        assert decision.propensity == 1.0
        assert asked == [False]
        assert bandit_in(decision.id) == "x"

    served(game)


def test_a_policy_that_cannot_be_compiled_leaves_chance_at_work(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(bandit: Bandit) -> None:
        raise GiroError("no compiler")

    asked = []
    monkeypatch.setattr(Bandit, "get_ready", fail)
    monkeypatch.setattr(Bandit, "compile_aside", lambda *_, **__: asked.append(1))

    async def game(ask: Client) -> None:
        await ask.service.bandits.create("x", {"arms": ["a", "b"], "policy": "ucb1"}, About())
        running = await ask.service.bandits.get("x")
        await running.decide(Ask())
        await running.prepared()
        (decision,) = await running.decide(Ask())
        assert decision.propensity == 0.5
        assert asked == [1]  # it is tried once, and not at each decision

    served(game)


@pytest.mark.parametrize(
    ("id", "name"), [("button.00ff", "button"), ("a.b.00ff", "a.b"), ("mine", ""), ("", "")]
)
def test_an_id_says_which_bandit_it_belongs_to(id: str, name: str) -> None:
    assert bandit_in(id) == name


def test_settings_that_others_change_are_followed(served: Served) -> None:
    async def game(ask: Client) -> None:
        service: Any = ask.service
        await service.bandits.create("x", {"arms": ["a", "b"], "policy": "ucb1"}, About())
        running = await service.bandits.get("x")
        service.records.put("bandit", "x", {"retired": True})
        await service.follow_once()
        assert running.about.retired

    served(game)


def test_a_log_without_a_snapshot_that_is_opened_again_is_not_played_by_chance(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash: a clean end leaves a snapshot."""
    monkeypatch.setattr(Bandit, "is_compiled", True)

    async def game(ask: Client) -> None:
        bandits = ask.service.bandits
        with Bandit(["a", "b"], "ucb1", name="x", store=bandits.store) as bandit:
            decision = bandit.decide()
            bandit.reward(decision.id, 1.0)
            bandit._follower._snapshot_at = 100  # so that none is kept at the end
        running = await bandits.get("x")
        (decision,) = await running.decide(Ask())
        assert (running.bandit.is_ready, decision.propensity) == (True, 1.0)

    served(game)


def test_readiness_waits_for_the_policies_of_the_settings_to_be_compiled(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, asked = threading.Event(), []

    def compile_aside(bandit: Bandit, stop: Callable[[], bool]) -> None:
        asked.append(bandit.name)
        assert may_end.wait(30)

    monkeypatch.setattr(Bandit, "compile_aside", compile_aside)

    async def game(ask: Client) -> None:
        assert (await ask("GET", "/readyz", key=None)).status_code == 503
        may_end.set()
        (running,) = ask.service.bandits.running()
        await running.prepared()
        assert (await ask("GET", "/readyz", key=None)).status_code == 200
        assert asked == ["mine"]

    served(game, bandits=[NewBandit("mine", ["a", "b"], "ucb1")])
