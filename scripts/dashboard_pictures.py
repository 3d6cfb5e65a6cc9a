"""Take the pictures of the dashboard: of the shop of examples/, and of a decision.

    python scripts/dashboard_pictures.py

It needs Chromium and Playwright, as the tests of the pages in a browser do, and two minutes: the
visitors of the shop take their time.
"""

import heapq
import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples" / "shop")]

from crowd import visit  # noqa: E402  # of the shop
from run import open_shop  # noqa: E402  # likewise
from servers import Server, free_port  # noqa: E402  # of the tests
from service.dashboard.chromium import browsing, visiting  # noqa: E402  # likewise

from giro import Bandit, Decision  # noqa: E402
from giro.seeds import stream  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
PROGRAM = (sys.executable, "-c", "from giro.cli.main import main; main()", "dashboard")
COLOURS = 200
VISITS, PACE = 2_500, 25.0  # visitors of the shop, and how many come in a second
ROUNDS, STEP = 6_000, 30.0  # decisions on news, and seconds between them
LATE, NEVER = 900.0, 0.06  # mean delay of a reward, share of those that never come
LIKES = {
    "de": {"sport": 0.3, "opera": 0.1, "politics": 0.2},
    "it": {"sport": 0.1, "opera": 0.4, "politics": 0.1},
    "fr": {"sport": 0.15, "opera": 0.1, "politics": 0.3},
}


def take_shop() -> None:
    """Take a picture of the dashboard while the shop is open."""
    rng, ports = stream(7), [free_port() for _ in range(3)]
    with open_shop(ports) as (dashboard, address), httpx.Client(base_url=address) as browser:
        for _ in range(VISITS):
            visit(browser, rng)
            time.sleep(rng.exponential(1.0 / PACE))
        url, _, page = dashboard.rpartition("/")
        take(url, page, "dashboard.png", height=950)


def take_decision() -> None:
    """Take a picture of a decision of a bandit that learns who likes which topic."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.giro"
        read_news().save(path)
        server = Server((*PROGRAM, str(path)), port=free_port(), folder=path.parent)
        with server.ready("/assets/icon.svg"):
            page = f"decision?id={ROUNDS - 700}&name=news"
            take(server.url, page, "dashboard-decision.png", height=700)


def read_news() -> Bandit:
    """Return a bandit after two days of readers, whose rewards come late."""
    now, rng, coming = time.time() - ROUNDS * STEP, stream(6), list[tuple[float, Decision, float]]()
    features = {"hour": "number", "country": list(LIKES)}
    options: dict[str, Any] = {"seed": 1, "ids": "numbered", "features": features, "votes": 200}
    bandit = Bandit(list(LIKES["de"]), "lin-ts", clock=lambda: now, **options)
    for i in range(ROUNDS):
        now += STEP * rng.uniform(0.5, 1.5)
        while coming and coming[0][0] < now:
            _, earlier, value = heapq.heappop(coming)
            bandit.reward(earlier.id, value)
        country = list(LIKES)[int(rng.integers(3))]
        decision = bandit.decide({"hour": i // 120 % 24, "country": country})
        if rng.random() > NEVER:
            value = float(rng.random() < LIKES[country][decision.arm])
            heapq.heappush(coming, (now + rng.exponential(LATE), decision, value))
    return bandit


def take(url: str, page: str, name: str, *, height: int) -> None:
    """Take a picture of a page."""
    with browsing() as browser, visiting(browser, url, "light") as visitor:
        visitor.page.set_viewport_size({"width": 1180, "height": height})
        visitor.go(page)
        visitor.page.get_by_role("heading", level=1).wait_for()
        visitor.page.wait_for_load_state("networkidle")
        (PICTURES / name).write_bytes(small(visitor.page.screenshot()))


def small(picture: bytes) -> bytes:
    """Return a picture of few colours as a small PNG."""
    out = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    take_shop()
    take_decision()
