"""Articles that come and go, readers with interests, three slots, clicks minutes later.

A front page has three slots, the first of which is seen most. A new article appears every hour
and leaves after eight. The bandit has no list of articles: each request brings those of the
moment, with what is known of them. A click is reported some minutes after the visit, and what got
no click within half an hour as a 0.

    giro serve                                   # in another terminal; it shows a key
    GIRO_KEY=... python examples/news.py --out news.png

plays one day with a policy that knows the readers, with the same policy that does not, and with the
newest articles first. It prints a table and draws what happened.
"""

import argparse
import heapq
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import giro
from giro import plots
from giro.client import RemoteBandit
from giro.seeds import stream

TOPICS = ["politics", "sports", "science", "travel"]
POLICY = "giro-ensemble:model=[hashed:bits=14],replicas=20"
WAYS = {  # the share of decisions that the policy makes, and whether it knows who reads
    "knows-readers": (1.0, True),
    "ignores-readers": (1.0, False),
    "newest-first": (0.0, False),
}
PLACES = [{"place": "top"}, {"place": "middle"}, {"place": "bottom"}]
SEEN = {"top": 1.0, "middle": 0.6, "bottom": 0.4}  # how likely a reader looks there
MINUTES = 24 * 60
EVERY, STAYS, PATIENCE = 60, 480, 30  # minutes


class Article(NamedTuple):
    """An article; the bandit knows all of it but its appeal."""

    name: str
    topic: str
    words: int
    appears: int  # minute of the day; those below 0 are from the day before
    appeal: float

    def features(self, minute: int) -> dict[str, Any]:
        """Return what is known of it now. Without its name: it is gone before much is learned."""
        return {"topic": self.topic, "words": self.words, "age": minute - self.appears}

    def chance_of_click(self, reader: Mapping[str, str]) -> float:
        """Return how likely this reader clicks, having seen it."""
        liked = 1.0 if reader["interest"] == self.topic else 0.2
        long = reader["device"] == "phone" and self.words > 600
        return self.appeal * liked * (0.6 if long else 1.0)


@dataclass
class Day:
    """What a bandit did in a day."""

    minute: list[int] = field(default_factory=list)  # [visit]
    top: list[str] = field(default_factory=list)  # [visit] name of the article in the first place
    clicks: list[int] = field(default_factory=list)  # [visit]


def articles(seed: int) -> list[Article]:
    """Return the articles of a day, as they appear."""
    rng = stream(seed, 0)
    return [
        Article(
            f"{TOPICS[i % 4]} {i // 4 + 1}",
            TOPICS[i % 4],
            int(rng.integers(100, 1200)),
            start,
            rng.uniform(0.2, 0.6),
        )
        for i, start in enumerate(range(EVERY - STAYS, MINUTES, EVERY))
    ]


def someone(rng: np.random.Generator) -> dict[str, str]:
    """Return what is known about a reader."""
    device = "phone" if rng.random() < 0.5 else "desktop"
    return {"interest": TOPICS[int(rng.integers(4))], "device": device}


def new_bandit(client: giro.Client, name: str, share: float) -> RemoteBandit:
    """Make a bandit of the service. So that a day can be played again, it has a new name."""
    return client.create(f"{name}-{secrets.token_hex(4)}", policy=POLICY, share=share, seed=1)


def wait_until_ready(bandit: RemoteBandit) -> None:
    """Wait until the policy is compiled for contexts like the first. Chance decides before."""
    while not bandit.info()["ready"]:
        time.sleep(0.1)


def play(bandit: RemoteBandit, knows_readers: bool, visits: int, seed: int) -> Day:
    """Return what happens when a bandit fills the page all day; readers are the same for all."""
    today, rng, day = articles(seed), stream(seed, 1), Day()
    by_name = {article.name: article for article in today}
    on_the_way: list[tuple[float, str, float]] = []  # rewards: the minute of the report, and what
    for visit in range(visits):
        minute = visit * MINUTES // visits
        due = []
        while on_the_way and on_the_way[0][0] <= minute:
            due.append(heapq.heappop(on_the_way)[1:])
        bandit.reward_many(due)

        reader, look, late = someone(rng), rng.random((3, 2)), rng.exponential(5.0, size=3)
        newest = [each for each in reversed(today) if 0 <= minute - each.appears < STAYS]
        page = bandit.rank(
            {"reader": reader} if knows_readers else {},
            arms={article.name: article.features(minute) for article in newest},
            slots=PLACES,
        )
        if visit == 0:
            wait_until_ready(bandit)
        clicks = 0
        for decision, place, drawn, delay in zip(page, SEEN, look, late, strict=True):
            chance = by_name[decision.arm].chance_of_click(reader)
            clicked = bool(drawn[0] < SEEN[place] and drawn[1] < chance)
            report = minute + (min(delay, PATIENCE) if clicked else PATIENCE)
            heapq.heappush(on_the_way, (report, decision.id, float(clicked)))
            clicks += clicked
        day.minute.append(minute)
        day.top.append(page[0].arm)
        day.clicks.append(clicks)
    return day


def table(days: Mapping[str, Day]) -> str:
    """Return the clicks of all days as lines of text."""
    lines = [f"{'page':16} visits   clicks   clicks per visit   ±95%"]
    for name, day in days.items():
        n, rate = len(day.clicks), float(np.mean(day.clicks))
        margin = 1.96 * float(np.std(day.clicks)) / n**0.5
        lines.append(f"{name:16} {n:6}   {sum(day.clicks):6}   {rate:16.3f}   {margin:.3f}")
    return "\n".join(lines)


def picture(days: Mapping[str, Day], today: Sequence[Article]) -> Figure:
    """Return the clicks so far of all days, and what the first of them showed on top when."""
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(7, 7.5), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1, 2])
        for (name, day), colour, dashes in zip(
            days.items(), plots.COLOURS, plots.DASHES, strict=False
        ):
            hours = np.array(day.minute) / 60
            above.plot(hours, np.cumsum(day.clicks), color=colour, linestyle=dashes, label=name)
        above.set(ylabel="clicks so far", ylim=(0, None), xlim=(0, 24))
        above.legend(frameon=False)
        _show_articles(below, next(iter(days.values())), today)
        below.set(xlabel="hour of the day", title=f"what {next(iter(days))} showed on top")
    return figure


def _show_articles(panel: mpl.axes.Axes, day: Day, today: Sequence[Article]) -> None:
    """Draw a row for each article: when it was there, and darker the more often it was on top."""
    hour, top = np.array(day.minute) / 60, np.array(day.top)
    visits, edges = np.histogram(hour, bins=48, range=(0, 24))
    for i, article in enumerate(today):
        there = (max(article.appears, 0) / 60, min(article.appears + STAYS, MINUTES) / 60)
        panel.hlines(i, *there, color="0.85", linewidth=5)
        share = np.histogram(hour[top == article.name], bins=edges)[0] / np.maximum(visits, 1)
        colours = [(*mpl.colors.to_rgb(plots.COLOURS[0]), float(part)) for part in share]
        panel.hlines([i] * 48, edges[:-1], edges[1:], colors=colours, linewidth=5)
    panel.set_yticks(range(len(today)), [article.name for article in today], fontsize=6)
    panel.invert_yaxis()
    panel.grid(visible=False)


def main() -> None:
    """Play a day in each way, one after the other."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--visitors", type=int, default=6000)
    arguments.add_argument("--url", default="http://127.0.0.1:8720", help="of giro serve")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=Path, default=Path("news.png"))
    given = arguments.parse_args()
    with giro.Client(given.url, queue=None, timeout=30.0) as client:  # simulated people wait
        days = {
            name: play(new_bandit(client, name, share), knows, given.visitors, given.seed)
            for name, (share, knows) in WAYS.items()
        }
    print(table(days))
    plots.save(picture(days, articles(given.seed)), given.out)


if __name__ == "__main__":
    main()
