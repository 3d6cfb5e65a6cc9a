"""The dashboard of a store or a file by itself."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bandit.stores.postgres import new_database, url_or_reason
from service.dashboard.conftest import NASTY, POLICY, Browser, played, text_of

from giro import BadParameter, Bandit
from giro.service.dashboard.alone import application_of_store
from giro.service.dashboard.tabs import TABS

Shown = Callable[..., None]
PAGES = [tab.path for tab in TABS if tab.in_menu]


def test_every_page_of_a_store_is_there(shown: Shown, store: str) -> None:
    with Bandit([NASTY, "y"], POLICY, name=f"{NASTY} / ../?#", store=store) as bandit:
        played(bandit)
        id = bandit.pending()[0].id

    async def look(browser: Browser) -> None:
        assert NASTY in text_of(await browser.page("/"))
        for path in PAGES:
            page = await browser.page(f"/{path}", name=f"{NASTY} / ../?#")
            assert "<script>alert" not in page
        await browser.page("/decision", name=f"{NASTY} / ../?#", id=id)

    shown(look)


def test_a_store_of_postgresql_has_the_same_pages(shown: Shown) -> None:
    url, reason = url_or_reason()
    if url is None:
        pytest.skip(reason)
    place = new_database(url)
    with Bandit(["x", "y"], POLICY, name="b", store=place) as bandit:
        played(bandit)

    async def look(browser: Browser) -> None:
        for path in PAGES:
            await browser.page(f"/{path}", name="b")
        page = text_of(await browser.page("/"))
        assert "postgresql://" in page
        assert "giro@" not in page

    shown(look, place)


def test_nothing_can_be_changed(shown: Shown, store: str) -> None:
    Bandit(["x", "y"], POLICY, name="b", store=store).close()

    async def look(browser: Browser) -> None:
        assert "Manage" not in await browser.page("/bandit", name="b")
        for path in ("/manage", "/sign-in"):
            assert (await browser.get(path, name="b")).status_code == 404
            assert (await browser.http.post(path)).status_code == 404

    shown(look)
    assert Bandit.open(store, "b", read_only=True).position == 3


def test_pages_follow_a_log_that_another_writes(shown: Shown, store: str) -> None:
    bandit = played(Bandit(["x", "y"], POLICY, name="b", store=store))

    async def look(browser: Browser) -> None:
        await browser.page("/bandit", name="b")
        decision = bandit.decide()
        page = await browser.page("/decision", name="b", id=decision.id)
        assert decision.id in page
        while ">61<" not in await browser.page("/bandit", name="b"):
            pass

    shown(look)
    bandit.close()


def test_a_file_has_the_same_pages(shown: Shown, tmp_path: Path) -> None:
    path = tmp_path / "colours.giro"
    played(Bandit(["x", "y"], POLICY)).save(path)
    before = path.read_bytes()

    async def look(browser: Browser) -> None:
        assert "colours" in text_of(await browser.page("/"))
        for page in PAGES:
            await browser.page(f"/{page}", name="colours")
        assert (await browser.get("/bandit", name="other")).status_code == 404

    shown(look, str(path))
    assert path.read_bytes() == before


def test_a_store_without_bandits_says_how_to_make_one(shown: Shown, store: str) -> None:
    async def look(browser: Browser) -> None:
        page = text_of(await browser.page("/"))
        assert "No bandits yet" in page
        assert store in page

    shown(look)


def test_a_bandit_that_comes_later_is_listed(shown: Shown, store: str) -> None:
    async def look(browser: Browser) -> None:
        await browser.page("/")
        Bandit(["x", "y"], POLICY, name="late", store=store).close()
        assert "late" in text_of(await browser.page("/"))

    shown(look)


def test_other_names_of_this_machine_are_refused(shown: Shown, store: str) -> None:
    async def look(browser: Browser) -> None:
        answer = await browser.http.get("/", headers={"host": "elsewhere.org"})
        assert answer.status_code == 403

    shown(look)


@pytest.mark.parametrize("place", ["nothing.giro", "http://127.0.0.1", "mysql://x/y", ""])
def test_what_is_no_store_is_refused_at_once(place: str) -> None:
    with pytest.raises(BadParameter):
        application_of_store(place)


def test_shares_of_a_stretch_that_goes_on_are_in_the_table_only(shown: Shown, store: str) -> None:
    now = time.time()
    with Bandit(["x", "y"], "uniform", name="b", store=store, clock=lambda: now) as bandit:
        for _ in range(10):
            now += 600.0
            bandit.decide()

    async def look(browser: Browser) -> None:
        rows = re.findall(r"<tr data-x=.*?</tr>", await browser.page("/bandit", name="b"), re.S)
        *finished, last = [row for row in rows if "data-low" not in row]
        assert all('data-v=""' not in row for row in finished)
        assert last.count('data-v=""') == 2 and "%" in last

    shown(look)


def test_an_uplift_that_few_rewards_tell_is_not_shown_at_the_top(shown: Shown, store: str) -> None:
    for name, rounds in (("few", 45), ("many", 300)):
        with Bandit(["x", "y"], "uniform", name=name, store=store) as bandit:
            played(bandit, rounds)

    async def look(browser: Browser) -> None:
        for name, is_there in (("few", False), ("many", True)):
            top = text_of(await browser.page("/bandit", name=name)).split("Pending rewards")[0]
            assert ("too small" in top) is not is_there
            assert bool(re.search(r"baseline [+−][\d.]+ [+−][\d.]+ to", top)) is is_there

    shown(look)
