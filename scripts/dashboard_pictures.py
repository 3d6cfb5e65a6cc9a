"""Take the pictures of the dashboard that docs/howto/dashboard.md shows.

    python scripts/dashboard_pictures.py

It needs Chromium and Playwright, as the tests of the pages in a browser do.
"""

import heapq
import io
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from servers import Server, free_port  # noqa: E402  # of the tests
from service.dashboard.chromium import browsing, visiting  # noqa: E402  # likewise

from giro import Bandit, Decision  # noqa: E402
from giro.seeds import stream  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
PROGRAM = (sys.executable, "-c", "from giro.cli.main import main; main()", "dashboard")
COLOURS = 200
ROUNDS, STEP = 6_000, 30.0  # seconds between decisions
LATE, NEVER = 900.0, 0.06  # mean delay of a reward, share of those that never come
BUYING = {"plain": 0.10, "one click": 0.17, "trust badges": 0.12}


def played(bandit: Bandit, now: list[float], visit: Callable[[int], tuple[Any, Any]]) -> Bandit:
    """Return the bandit after decisions whose rewards come late.

    `visit` returns a context, and the probability of a reward of 1 for each arm.
    """
    rng, coming = stream(5), list[tuple[float, Decision, float]]()
    for i in range(ROUNDS):
        now[0] += STEP * rng.uniform(0.5, 1.5)
        while coming and coming[0][0] < now[0]:
            _, earlier, value = heapq.heappop(coming)
            bandit.reward(earlier.id, value)
        context, chances = visit(i)
        decision = bandit.decide(context)
        if rng.random() > NEVER:
            due, value = now[0] + rng.exponential(LATE), float(rng.random() < chances[decision.arm])
            heapq.heappush(coming, (due, decision, value))
    return bandit


def checkout(path: Path) -> None:
    """Keep a bandit that finds the best of three pages."""
    now = [time.time() - ROUNDS * STEP]
    bandit = Bandit(list(BUYING), "thompson", seed=1, ids="numbered", clock=lambda: now[0])
    played(bandit, now, lambda _: (None, BUYING)).save(path)


def news(path: Path) -> None:
    """Keep a bandit that learns who likes which topic."""
    now, rng = [time.time() - ROUNDS * STEP], stream(6)
    features = {"hour": "number", "country": ["de", "it", "fr"]}
    likes: Mapping[str, Any] = {
        "de": {"sport": 0.3, "opera": 0.1, "politics": 0.2},
        "it": {"sport": 0.1, "opera": 0.4, "politics": 0.1},
        "fr": {"sport": 0.15, "opera": 0.1, "politics": 0.3},
    }

    def visit(i: int) -> tuple[Any, Any]:
        country = ("de", "it", "fr")[int(rng.integers(3))]
        return {"hour": i // 120 % 24, "country": country}, likes[country]

    options: dict[str, Any] = {"seed": 1, "ids": "numbered", "features": features, "votes": 200}
    bandit = Bandit(["sport", "opera", "politics"], "lin-ts", clock=lambda: now[0], **options)
    played(bandit, now, visit).save(path)


def small(picture: bytes) -> bytes:
    """Return a picture of few colours as a small PNG."""
    out = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def take(bandit: Path, page: str, name: str, *, height: int) -> None:
    """Take a picture of a page."""
    with Server((*PROGRAM, str(bandit)), port=free_port(), folder=bandit.parent) as server:
        server.ready("/assets/icon.svg")
        with browsing() as browser, visiting(browser, server.url, "light") as visit:
            visit.page.set_viewport_size({"width": 1180, "height": height})
            visit.go(f"{page}name={bandit.stem}")
            visit.page.get_by_role("heading", level=1).wait_for()
            visit.page.wait_for_load_state("networkidle")
            (PICTURES / name).write_bytes(small(visit.page.screenshot()))


def main() -> None:
    """Play two bandits, and take a picture of each."""
    with tempfile.TemporaryDirectory() as folder:
        shop, topics = Path(folder) / "checkout.giro", Path(folder) / "news.giro"
        checkout(shop)
        take(shop, "bandit?", "dashboard.png", height=950)
        news(topics)
        take(topics, f"decision?id={ROUNDS - 700}&", "dashboard-decision.png", height=700)


if __name__ == "__main__":
    main()
