"""Changes to bandits by forms."""

from collections.abc import Callable

import pytest
from service.conftest import Client
from service.dashboard.conftest import NASTY, browser_of, text_of

Served = Callable[..., None]
NEW = {"name": "b", "arms": ["x", "y"], "policy": "thompson"}


def test_arms_are_added_retired_and_brought_back(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", NEW)
        browser = browser_of(ask)
        await browser.sign_in()
        for do, arm, arms in (
            ("add_arm", NASTY, ["x", "y", NASTY]),
            ("retire_arm", "x", ["y", NASTY]),
            ("add_arm", "x", ["x", "y", NASTY]),
        ):
            answer = await browser.act("b", do, arm=arm)
            assert answer.status_code == 303
            page = (await browser.http.get(answer.headers["location"])).text
            assert 'class="done" role="status"' in page
            assert "<script>alert" not in page
            assert (await ask.get("/v1/bandits/b"))["arms"] == arms

    served(game)


def test_an_arm_of_a_flag_needs_a_payload(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", NEW | {"payloads": {"x": True, "y": False}})
        browser = browser_of(ask)
        await browser.sign_in()
        for payload in ("", "{", '"text"'):
            answer = await browser.act("b", "add_arm", arm="z", payload=payload)
            assert answer.status_code == 422
            assert 'role="alert"' in answer.text
        assert (await browser.act("b", "add_arm", arm="z", payload="true")).status_code == 303
        info = await ask.get("/v1/bandits/b")
        assert info["payloads"] == {"x": True, "y": False, "z": True}

    served(game)


def test_the_share_changes_and_an_apprentice_takes_over(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", NEW | {"share": 0.0})
        browser = browser_of(ask)
        await browser.sign_in()
        assert "apprentice" in text_of(await browser.page("/manage", name="b"))
        for text, share in (("12.5", 0.125), ("100", 1.0)):
            assert (await browser.act("b", "share", share=text)).status_code == 303
            assert (await ask.get("/v1/bandits/b"))["setting"]["share"] == share
        for text in ("", "-1", "101", "nan", "x"):
            answer = await browser.act("b", "share", share=text)
            assert answer.status_code == 422
            assert "A share is a number of per cent, from 0 to 100, got" in answer.text
        assert (await ask.get("/v1/bandits/b"))["setting"]["share"] == 1.0

    served(game)


def test_erased_decisions_are_gone(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", NEW)
        ids = [(await ask.post("/v1/bandits/b/decisions", {}))["id"] for _ in range(3)]
        browser = browser_of(ask)
        await browser.sign_in()
        answer = await browser.act("b", "erase", ids=ids[0])
        assert answer.status_code == 422  # not sure
        assert (await browser.act("b", "erase", ids=" \n", sure="yes")).status_code == 422
        answer = await browser.act("b", "erase", ids=f"{ids[0]}\r\n{ids[1]}\n", sure="yes")
        assert answer.headers["location"] == "manage?name=b&done=erased"
        for id in ids[:2]:
            assert (await browser.get("/decision", name="b", id=id)).status_code == 404
        await browser.page("/decision", name="b", id=ids[2])
        answer = await browser.act("b", "erase", ids="nobody", sure="yes")
        assert answer.headers["location"].endswith("nothing_erased")

    served(game)


def test_mistakes_are_told_on_the_page_and_change_nothing(served: Served) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", NEW)
        browser = browser_of(ask)
        await browser.sign_in()
        for do, fields in (
            ("add_arm", {"arm": "x"}),
            ("add_arm", {"arm": ""}),
            ("retire_arm", {"arm": NASTY}),
            ("retire_arm", {}),
            ("explode", {}),
        ):
            answer = await browser.act("b", do, **fields)
            assert answer.status_code == 422
            assert "<script>alert" not in answer.text
        assert (await ask.get("/v1/bandits/b"))["arms"] == ["x", "y"]

    served(game)


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "cross-site"}, {"origin": "http://x"}])
def test_a_form_that_another_site_made_changes_nothing(
    served: Served, headers: dict[str, str]
) -> None:
    async def game(ask: Client) -> None:
        await ask.post("/v1/bandits", NEW)
        browser = browser_of(ask)
        await browser.sign_in()
        token = await browser.token("b") if headers else "guessed"
        form = {"do": "retire_arm", "arm": "x", "token": token}
        answer = await browser.http.post("/manage?name=b", data=form, headers=headers)
        assert answer.status_code == 403
        assert (await ask.get("/v1/bandits/b"))["arms"] == ["x", "y"]

    served(game)


def test_only_a_key_with_admin_for_the_bandit_may_act(served: Served) -> None:
    async def game(ask: Client) -> None:
        for name in ("b", "c"):
            await ask.post("/v1/bandits", NEW | {"name": name})
        for limits in (
            {"scopes": ("read",)},
            {"scopes": ("read", "decide", "reward")},
            {"scopes": ("admin",), "bandits": ("c",)},
        ):
            browser = browser_of(ask)
            await browser.sign_in(await ask.key(**limits))
            assert (await browser.get("/manage", name="b")).status_code == 403
            token = await browser.token("c") if "admin" in limits["scopes"] else "any"
            form = {"do": "retire_arm", "arm": "x", "token": token}
            answer = await browser.http.post("/manage?name=b", data=form)
            assert answer.status_code == 403
        assert (await ask.get("/v1/bandits/b"))["arms"] == ["x", "y"]
        answer = await browser_of(ask).get("/manage", name="b", id="1")
        assert answer.headers["location"] == "sign-in?back=manage%3Fname%3Db%26id%3D1"
        answer = await browser_of(ask).http.post("/manage?name=b", data={"do": "share"})
        assert (answer.status_code, answer.headers["location"]) == (303, "sign-in")

    served(game)
