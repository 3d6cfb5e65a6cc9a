"""The application: what it says of itself."""

from collections.abc import Callable

from service.conftest import Client

from giro.service.messages import NewBandit

Served = Callable[..., None]


def test_probes_need_no_key(served: Served) -> None:
    async def game(ask: Client) -> None:
        for path in ("/livez", "/readyz", "/openapi.json", "/docs"):
            assert (await ask("GET", path, key=None)).status_code == 200
        ask.service.is_closing = True
        assert (await ask("GET", "/livez", key=None)).status_code == 200
        assert (await ask("GET", "/readyz", key=None)).status_code == 503

    served(game)


def test_bandits_of_the_settings_are_there_when_it_is_ready(served: Served) -> None:
    async def game(ask: Client) -> None:
        assert [running.name for running in ask.service.bandits.running()] == ["mine"]
        assert (await ask.get("/v1/bandits/mine"))["arms"] == ["a", "b"]

    served(game, bandits=[NewBandit("mine", ["a", "b"], "ucb1")])
