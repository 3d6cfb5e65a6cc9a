"""Signing in and out."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from servers import KEY, SERVE, Server, free_port
from service.conftest import SECRET, Client
from service.dashboard.conftest import browser_of, text_of

Served = Callable[..., None]


def test_a_key_opens_the_page_that_was_asked_for(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "thompson"})
        answer = await browser.get("/arms", name="b", find="x & y")
        assert answer.status_code == 303
        form = await browser.http.get(answer.headers["location"])
        assert "Sign in" in text_of(form.text)
        back = "arms?name=b&find=x+%26+y"
        assert back.replace("&", "&amp;") in form.text
        answer = await browser.sign_in(back=back)
        assert (answer.status_code, answer.headers["location"]) == (303, back)
        assert SECRET not in answer.headers["set-cookie"]
        answer = await browser.http.get(f"/{back}")
        assert answer.status_code == 200

    served(game)


def test_a_wrong_key_is_told_and_begins_nothing(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        for key in ("", "a key that nobody has"):
            answer = await browser.sign_in(key)
            assert answer.status_code == 401
            assert "set-cookie" not in answer.headers
            assert 'role="alert"' in answer.text
            assert key == "" or key not in answer.text
        assert (await browser.get("/")).status_code == 303

    served(game)


def test_a_form_of_another_site_signs_nobody_in(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        headers = {"sec-fetch-site": "cross-site"}
        answer = await browser.http.post("/sign-in", data={"key": SECRET}, headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers

    served(game)


@pytest.mark.parametrize(
    "back",
    ["//elsewhere.org", "https://elsewhere.org", "/\\elsewhere.org", "javascript:x", "x\r\ny"],
)
def test_no_form_leads_to_another_site(served: Served, back: str) -> None:
    async def game(ask: Client) -> None:
        answer = await browser_of(ask).sign_in(back=back)
        assert (answer.status_code, answer.headers["location"]) == (303, "./")

    served(game)


def test_who_signs_out_has_to_sign_in_again(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        await ask.post("/v1/bandits", {"name": "b", "arms": ["x", "y"], "policy": "thompson"})
        await browser.sign_in()
        cookies = dict(browser.http.cookies)
        for token in ("", "wrong"):
            answer = await browser.http.post("/sign-out", data={"token": token})
            assert answer.status_code == 403
        answer = await browser.http.post("/sign-out", data={"token": await browser.token("b")})
        assert answer.status_code == 303
        browser.http.cookies.update(cookies)  # an old cookie is worth nothing
        assert (await browser.get("/")).status_code == 303

    served(game)


def test_what_is_no_form_is_refused(served: Served) -> None:
    async def game(ask: Client) -> None:
        browser = browser_of(ask)
        assert (await browser.http.post("/sign-in", content=b"\xff\xfe")).status_code == 400
        assert (await browser.http.post("/sign-in", content=b"")).status_code == 401

    served(game)


def test_a_session_counts_in_all_workers_and_the_start_says_where_pages_are(
    tmp_path: Path,
) -> None:
    program = (*SERVE, "--workers", "2")
    with Server(program, port=free_port(), folder=tmp_path) as server:
        server.ready()
        with httpx.Client(base_url=server.url, timeout=60.0) as http:
            answer = http.post("/sign-in", data={"key": KEY})
            cookies = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
        for _ in range(20):  # each on a connection of its own, so that both answer
            page = httpx.get(f"{server.url}/", headers=cookies, timeout=60.0)
            assert page.status_code == 200
        server.stop()
    said = server.log.read_text("utf-8")
    assert f"dashboard   {server.url}/" in said
    assert KEY not in said
