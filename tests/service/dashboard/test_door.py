"""All pages of a service: with data and without, for who may see them."""

import asyncio
import json
from collections.abc import Callable

import pytest
from service.conftest import Client
from service.dashboard.conftest import NASTY, browser_of, text_of

from giro.service.dashboard.tabs import TABS

Served = Callable[..., None]
PAGES = [tab.path for tab in TABS if tab.in_menu]
BANDITS = (
    {"name": "empty", "arms": ["x", "y"], "policy": "thompson"},
    {"name": "any", "policy": "giro-ensemble:model=hashed"},
    {"name": "played", "arms": [NASTY, "y"], "policy": "thompson"},
)


async def filled(ask: Client) -> list[str]:
    """Make bandits, play one of them, and return the ids of its decisions."""
    for new in BANDITS:
        await ask.post("/v1/bandits", new)
    ids = []
    for i in range(40):
        decision = await ask.post("/v1/bandits/played/decisions", {})
        ids.append(decision["id"])
        if i % 4:
            await ask.post(f"/v1/decisions/{decision['id']}/reward", {"value": i % 2})
    return ids


def test_every_page_is_there_with_data_and_without(served: Served) -> None:
    async def game(ask: Client) -> None:
        ids = await filled(ask)
        browser = browser_of(ask)
        await browser.sign_in()
        assert {"empty", "any", "played"} <= set(text_of(await browser.page("/")).split())
        for name in ("empty", "any", "played"):
            for path in (*PAGES, "manage"):
                page = await browser.page(f"/{path}", name=name)
                assert "<script>alert" not in page
                assert page.count("<h1") == page.count("<main") == 1
        for query in ({"kind": "reward"}, {"kind": "left"}, {"before": "10"}):
            await browser.page("/events", name="played", **query)
        await browser.page("/decisions", name="played", before="5")
        page = text_of(await browser.page("/decision", name="played", id=ids[0]))
        assert ids[0] in page
        assert "was chosen, one of 2 arms on offer, with probability" in page
        assert NASTY in text_of(await browser.page("/arms", name="played"))

    served(game)


def test_without_bandits_the_list_says_how_to_make_one(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        await browser.sign_in()
        page = text_of(await browser.page("/"))
        assert "No bandits yet" in page
        assert "/v1/bandits" in page

    served(game)


def test_no_page_is_shown_to_who_is_not_signed_in(served: Served) -> None:
    async def game(ask: Client) -> None:
        await filled(ask)
        browser = browser_of(ask)
        for path in ("", *PAGES, "decision", "events.jsonl", "events.csv"):
            answer = await browser.get(f"/{path}", name="played")
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("sign-in")
        answer = await browser.http.get("/bandit?name=played", headers={"x-api-key": "wrong"})
        assert answer.status_code == 303

    served(game)


def test_a_key_sees_the_bandits_that_it_may_read_and_no_others(served: Served) -> None:
    async def game(ask: Client) -> None:
        await filled(ask)
        browser = browser_of(ask)
        await browser.sign_in(await ask.key(scopes=("read",), bandits=("empty",)))
        page = text_of(await browser.page("/"))
        assert "empty" in page
        assert "played" not in page
        await browser.page("/bandit", name="empty")
        for path in (*PAGES, "events.jsonl", "events.csv", "manage"):
            answer = await browser.get(f"/{path}", name="played")
            assert answer.status_code == 403
            assert "Not allowed" in answer.text
        assert "Manage" not in await browser.page("/bandit", name="empty")

    served(game)


def test_wrong_questions_are_answered_by_a_page(served: Served) -> None:
    async def game(ask: Client) -> None:
        await filled(ask)
        browser = browser_of(ask)
        await browser.sign_in()
        for path, query, status in (
            ("bandit", {}, 404),
            ("bandit", {"name": NASTY}, 404),
            ("decision", {"name": "played", "id": NASTY}, 404),
            ("events", {"name": "played", "kind": NASTY}, 422),
            ("decisions", {"name": "played", "before": NASTY}, 422),
            ("assets/nothing.js", {}, 404),
        ):
            answer = await browser.get(f"/{path}", **query)
            assert answer.status_code == status
            assert answer.headers["content-type"].startswith("text/html")
            assert "<script>alert" not in answer.text

    served(game)


def test_exports_stream_the_whole_log(served: Served) -> None:
    async def game(ask: Client) -> None:
        await filled(ask)
        browser = browser_of(ask)
        await browser.sign_in()
        lines = (await browser.page("/events.jsonl", name="played")).splitlines()
        answer = await ask("GET", "/v1/bandits/played/events")
        assert list(map(json.loads, lines)) == list(map(json.loads, answer.text.splitlines()))
        answer = await browser.get("/events.csv", name="played")
        assert answer.headers["content-disposition"] == 'attachment; filename="events.csv"'
        assert answer.text.count("\ndecision") == 0
        assert answer.text.startswith("number,kind,id,")

    served(game)


def test_pages_need_no_other_place_than_their_own(served: Served) -> None:
    async def game(ask: Client) -> None:
        await filled(ask)
        browser = browser_of(ask)
        await browser.sign_in()
        for path in ("", *(f"{path}?name=played" for path in PAGES)):
            page = await browser.page(f"/{path}")
            assert 'href="/' not in page  # all are beside each other, also behind a prefix
            assert 'src="/' not in page
            assert 'action="/' not in page

    served(game)


def test_assets_need_no_key_and_pages_are_not_kept(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        page = await browser.page("/sign-in")
        address = page.partition('href="assets/dashboard.css')[2].partition('"')[0]
        answer = await browser.get(f"/assets/dashboard.css{address}")
        assert answer.status_code == 200
        assert (await browser.get("/sign-in")).headers["cache-control"] == "no-store"

    served(game)


def test_pages_are_not_in_the_document_of_the_api(served: Served) -> None:
    async def game(ask: Client) -> None:
        paths = (await ask.get("/openapi.json"))["paths"]
        assert "/v1/bandits" in paths
        assert not {"/", "/bandit", "/sign-in", "/manage"} & paths.keys()

    served(game)


def test_the_list_comes_in_parts_and_is_searched(served: Served) -> None:
    async def game(ask: Client) -> None:
        for i in range(60):
            await ask.post("/v1/bandits", BANDITS[0] | {"name": f"bandit-{i:02}"})
        browser = browser_of(ask)
        await browser.sign_in()
        first, second = [text_of(await browser.page("/", page=page)) for page in ("1", "2")]
        assert "bandit-49" in first
        assert "bandit-50" not in first
        assert "bandit-50" in second
        found = text_of(await browser.page("/", find="T-07"))
        assert "bandit-07" in found
        assert "bandit-08" not in found

    served(game)


def test_a_bandit_that_cannot_be_opened_hides_no_other(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def game(ask: Client) -> None:
        await filled(ask)
        bandits, get = ask.service.bandits, ask.service.bandits.get

        async def broken(name: str) -> object:
            if name == "any":
                raise OSError(f"damaged {NASTY}")
            if name == "empty":
                await asyncio.Event().wait()
            return await get(name)

        monkeypatch.setattr(bandits, "get", broken)
        monkeypatch.setattr("giro.service.dashboard.door.PATIENCE", 0.3)
        browser = browser_of(ask)
        await browser.sign_in()
        answer = await browser.get("/")
        page = text_of(answer.text)
        assert "cannot be opened" in page
        assert "being opened" in page
        assert answer.headers["refresh"]
        assert "<script>alert" not in answer.text

    served(game)
