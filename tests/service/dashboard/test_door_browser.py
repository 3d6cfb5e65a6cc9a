"""All pages in a real browser: with data and empty, light, dark and narrow, clicked through."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from servers import KEY, Server, free_port
from service.dashboard.chromium import LOOKS, Visit, browsing, missing, visiting
from service.dashboard.conftest import NASTY

from giro import Bandit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
LONG = f"{NASTY} {'long ' * 30}"
NAMES = ("played", "empty", "any", "careful", "ringing", LONG)
PATHS = ("bandit", "arms", "decisions", "rewards", "learned", "events", "manage")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve bandits of all kinds."""
    folder = tmp_path_factory.mktemp("served")
    store = f"sqlite:///{folder}/giro.db"
    features = {"hour": "number", "country": ["de", "it"]}
    with Bandit(["red", NASTY], "lin-ts", name="played", store=store, features=features) as bandit:
        for i in range(150):
            decision = bandit.decide({"hour": i % 24, "country": "de" if i % 2 else "it"})
            if i % 5:
                bandit.reward(decision.id, float(i % 3 == 0))
    Bandit(["red", "green"], "thompson", name="empty", store=store).close()
    Bandit(None, "giro-ensemble:model=hashed", name="any", store=store).close()
    arms = [f"arm {i} {'with a long name ' * 5}" for i in range(120)]
    with Bandit(arms, "thompson", name=LONG, store=store) as bandit:
        bandit.decide_many(200)
    with Bandit(["old", "new"], "thompson", name="careful", store=store, share=0.5) as bandit:
        for i in range(60):
            bandit.reward(bandit.decide().id, float(i % 2))
    now = time.time() - 7200.0
    with Bandit(["a", "b"], "uniform", name="ringing", store=store, clock=lambda: now) as bandit:
        bandit.reward_many([(decision.id, 1.0) for decision in bandit.decide_many(100)])
        now += 7200.0
        bandit.decide_many(100)  # and no rewards
    with Server(port=free_port(), folder=folder) as server:
        yield server.ready()
        server.stop()


@pytest.fixture(scope="module")
def chromium(served: Server) -> "Iterator[Browser]":
    """Return a browser that is started after the server."""
    with browsing() as browser:
        yield browser


@pytest.fixture
def visit(chromium: "Browser", served: Server) -> Iterator[Visit]:
    """Return a signed-in window in which nothing may go wrong."""
    with visiting(chromium, served.url, "light") as visit:
        sign_in(visit)
        yield visit
        assert visit.troubles == []


def sign_in(visit: Visit) -> None:
    visit.go("sign-in")
    visit.page.get_by_label("Key").fill(KEY)
    visit.page.get_by_role("button", name="Sign in").click()
    visit.page.get_by_role("heading", name="Bandits").wait_for()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", NAMES)
def test_pages_have_no_barriers_and_no_errors(
    chromium: "Browser", served: Server, look: str, name: str
) -> None:
    with visiting(chromium, served.url, look) as visit:
        sign_in(visit)
        query = httpx.QueryParams(name=name)
        paths = ["./", *(f"{path}?{query}" for path in PATHS)]
        if name == "played":
            visit.go(f"decisions?{query}")
            paths.append(visit.page.locator("td .id").first.get_attribute("href") or "")
            paths += ["bandit?name=nobody", f"events?{query}&kind=left"]
        for path in paths:
            visit.go(path)
            assert visit.barriers() == [], path
            assert visit.overflow() <= 0, path
        not_there = [text for text in visit.troubles if "404" not in text]  # of nobody
        assert not_there == []


@pytest.mark.parametrize("look", LOOKS)
def test_the_form_to_sign_in_has_no_barriers(
    chromium: "Browser", served: Server, look: str
) -> None:
    with visiting(chromium, served.url, look) as visit:
        visit.go("bandit?name=played")
        assert visit.barriers() == []
        visit.page.get_by_label("Key").fill("a key that nobody has")
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("alert").wait_for()
        assert visit.barriers() == []
        visit.page.get_by_label("Key").fill(KEY)
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("heading", name="played").wait_for()
        assert all("401" in text for text in visit.troubles)


def test_charts_are_drawn_from_the_tables_beside_them(visit: Visit) -> None:
    visit.go("bandit?name=played")
    assert visit.page.locator(".plot canvas").count() == 2
    button = visit.page.locator("[data-legend=share] button").first
    assert button.get_attribute("aria-pressed") == "true"
    button.focus()
    visit.page.keyboard.press("Space")
    assert button.get_attribute("aria-pressed") == "false"
    visit.page.get_by_text("Numbers of this chart").first.click()
    assert visit.page.locator("table[data-chart=share] tbody tr").first.is_visible()


def test_everything_is_reached_by_links(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("link", name="played", exact=True).click()
    for title in ("Arms", "Decisions", "Late rewards", "Learned", "Events", "Manage", "Overview"):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=title).click()
        page.locator(f"nav a[aria-current=page]:text-is('{title}')").wait_for()
    page.get_by_role("link", name="More decisions").click()
    page.get_by_role("link", name="Older").click()
    page.locator("td .id").first.click()
    page.get_by_role("heading", name=re.compile("^Why ")).wait_for()
    assert "with probability" in page.locator(".lead").first.inner_text()
    page.get_by_role("link", name="Erase this decision").click()
    assert page.get_by_label("Ids of decisions").input_value() != ""


def test_the_first_key_skips_to_the_content(visit: Visit) -> None:
    visit.go("arms?name=played")
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.className") == "skip"
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "main"


def test_arms_and_the_share_are_changed_by_forms(visit: Visit) -> None:
    page = visit.page
    visit.go("manage?name=empty")
    page.get_by_label("Add an arm").fill(NASTY)
    page.get_by_role("button", name="Add").click()
    page.get_by_role("status").wait_for()
    page.get_by_label("Retire an arm").fill("red")
    page.get_by_role("button", name="Retire").click()
    page.get_by_text("The arm is not chosen any more").wait_for()
    page.get_by_label("Per cent of decisions").fill("0")
    page.get_by_role("button", name="Change").click()
    page.get_by_role("button", name="Let the policy decide everything").click()
    assert page.get_by_label("Per cent of decisions").input_value() == "100"
    visit.go("arms?name=empty")
    rows = page.locator("tbody tr").all_inner_texts()
    assert len(rows) == 3
    assert [("retired" in row) for row in rows if row.startswith("red")] == [True]


def test_new_decisions_appear_by_themselves_until_it_is_paused(
    visit: Visit, served: Server
) -> None:
    page = visit.page
    visit.go("bandit?name=any")
    page.get_by_text("No decisions yet").wait_for()
    headers = {"authorization": f"Bearer {KEY}"}
    body = {"arms": {"novel": {"pages": 400}, "atlas": {"pages": 90}}}
    url = f"{served.url}/v1/bandits/any/decisions"
    httpx.post(url, json=body, headers=headers, timeout=60.0).raise_for_status()
    page.get_by_text("No decisions yet").wait_for(state="detached", timeout=60_000)
    live = page.locator("#live")
    live.click()
    assert live.get_attribute("aria-pressed") == "false"


def test_an_alarm_is_seen_in_the_list_and_says_what_to_do(visit: Visit) -> None:
    page = visit.page
    visit.go("./")
    row = page.get_by_role("row").filter(has_text="ringing")
    row.get_by_text("1 alarm").wait_for(timeout=60_000)  # the bandit is being opened
    row.get_by_role("link").click()
    alarm = page.locator(".alarm")
    assert alarm.locator("strong").inner_text() == "Rewards have stopped coming."
    assert "of about 100 that were expected" in alarm.inner_text().lower()
    assert "See whether the program still reports them" in alarm.inner_text()


def test_files_of_events_are_downloaded(visit: Visit, tmp_path: Path) -> None:
    visit.go("events?name=played")
    for name in ("JSON lines", "CSV"):
        with visit.page.expect_download() as download:
            visit.page.get_by_role("link", name=name).click()
        download.value.save_as(tmp_path / name)
        assert len((tmp_path / name).read_text("utf-8").splitlines()) > 270


def test_who_signs_out_is_asked_for_a_key(visit: Visit) -> None:
    visit.go("bandit?name=played")
    visit.page.get_by_role("button", name="Sign out").click()
    visit.page.get_by_label("Key").wait_for()
    visit.go("bandit?name=played")
    assert visit.page.get_by_label("Key").is_visible()
