"""AsyncClient in a loop: what `test_sync` and `test_steps` do not see."""

import asyncio
import inspect
from pathlib import Path

import httpx

from giro import AsyncClient, Client
from giro.client import AsyncRemoteBandit, RemoteBandit


def test_both_clients_have_the_same_methods_and_parameters() -> None:
    for one, two in ((Client, AsyncClient), (RemoteBandit, AsyncRemoteBandit)):
        own = {name for name in vars(two) if not name.startswith("_")}
        assert own == {name for name in vars(one) if not name.startswith("_")} - {"arms"}
        for name in own:
            given, same = (getattr(cls, name) for cls in (one, two))
            if callable(given):
                parameters = [list(inspect.signature(each).parameters) for each in (given, same)]
                assert parameters[0] == parameters[1]


def test_a_service_that_does_not_answer_costs_one_time_out_and_no_more(tmp_path: Path) -> None:
    calls = []

    async def silent(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        await asyncio.Event().wait()
        raise AssertionError

    async def game() -> None:
        transport = httpx.MockTransport(silent)
        async with AsyncClient(
            key="a key", timeout=0.05, queue=tmp_path / "q", transport=transport
        ) as client:
            button = client.bandit("button", baseline="red")
            decisions = [await button.decide() for _ in range(50)]
            assert {each.arm for each in decisions} == {"red"}
            assert client.waiting == 50

    asyncio.run(game())
    assert calls.count("/v1/bandits/button/decisions") == 1  # others look whether it is back


def test_other_tasks_go_on_while_one_waits(tmp_path: Path) -> None:
    first, both = asyncio.Event(), asyncio.Event()

    async def answer(request: httpx.Request) -> httpx.Response:
        (both if first.is_set() else first).set()
        await both.wait()
        return httpx.Response(200, json=dict.fromkeys(("id", "arm", "propensity", "propensities")))

    async def game() -> None:
        client = AsyncClient(key="a key", queue=None, transport=httpx.MockTransport(answer))
        button = client.bandit("button")
        await asyncio.gather(button.decide(), button.decide())
        await client.close()

    asyncio.run(game())
