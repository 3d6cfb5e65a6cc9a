"""Articles that come and go, readers with interests, clicks that arrive minutes later.

A front page shows one article to each visitor. A new article appears every two hours and leaves
after eight. A click is reported some minutes after the visit; nobody reports that there was none,
so a visit without a click within half an hour counts as a 0.

`python examples/news.py --out news.png` plays one day with a policy that knows the visitors, one
that does not, and one that learns nothing; prints a table and draws what happened.
"""

import argparse
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import giro
from giro import plots
from giro.seeds import stream

TOPICS = ["politics", "sports", "science", "travel"]
FEATURES = {"interest": TOPICS, "device": ["phone", "desktop"], "evening": "number"}
POLICIES = {
    "giro-ensemble": "giro-ensemble:a=0.1",
    "giro, contexts ignored": "giro:a=1/3",
    "uniform": "uniform",
}
MINUTES = 24 * 60
EVERY, STAYS, PATIENCE = 120, 480, 30  # minutes


@dataclass(frozen=True)
class Article:
    """What readers make of it; nothing of this is known to the bandit, but the name."""

    name: str
    topic: str
    appeal: float
    appears: int

    @property
    def leaves(self) -> int:
        """The minute of the day from which on it is not shown."""
        return self.appears + STAYS

    def chance_of_click(self, visitor: Mapping[str, float | str]) -> float:
        """Return how likely this visitor clicks."""
        liked = 1.0 if visitor["interest"] == self.topic else 0.25
        return self.appeal * liked * (1.0 if visitor["device"] == "desktop" else 0.7)


@dataclass
class Day:
    """What a bandit did in a day."""

    shown: list[str] = field(default_factory=list)  # [visit] name of the article
    minute: list[int] = field(default_factory=list)  # [visit]
    clicked: list[bool] = field(default_factory=list)  # [visit]


def articles(seed: int) -> list[Article]:
    """Return the articles of a day: four at its start, then one every two hours."""
    rng = stream(seed, 0)
    starts = [0] * len(TOPICS) + list(range(EVERY, MINUTES, EVERY))
    return [
        Article(f"{TOPICS[i % 4]} {i // 4 + 1}", TOPICS[i % 4], rng.uniform(0.15, 0.45), start)
        for i, start in enumerate(starts)
    ]


def play(policy: str, visitors: int, seed: int) -> Day:
    """Return what happens when a policy chooses all day long. Visitors are the same for all."""
    today, rng, day = articles(seed), stream(seed, 1), Day()
    now = 0.0
    first = [article.name for article in today if article.appears == 0]
    asks = giro.Policy.parse(policy).uses_contexts
    features = FEATURES if asks else None
    bandit = giro.Bandit(
        first, policy, features=features, seed=seed, clock=lambda: now, ids="numbered"
    )
    by_name = {article.name: article for article in today}
    on_the_way: list[tuple[float, str]] = []  # clicks: when they are reported, and of what
    for visit in range(visitors):
        minute = visit * MINUTES // visitors
        now = 60.0 * minute
        change_articles(bandit, today, minute)
        while on_the_way and on_the_way[0][0] <= now:
            bandit.reward(heapq.heappop(on_the_way)[1], 1.0)
        bandit.expire(older_than=60.0 * PATIENCE, reward=0.0)

        visitor = someone(minute, rng)
        decision = bandit.decide(visitor if asks else None)
        clicks = bool(rng.random() < by_name[decision.arm].chance_of_click(visitor))
        delay = 60.0 * min(rng.exponential(5.0), PATIENCE - 1)
        if clicks:
            heapq.heappush(on_the_way, (now + delay, decision.id))
        day.shown.append(decision.arm)
        day.minute.append(minute)
        day.clicked.append(clicks)
    return day


def change_articles(bandit: giro.Bandit, today: Sequence[Article], minute: int) -> None:
    """Let articles appear and leave whose time has come."""
    there = set(bandit.arms)
    for article in today:
        is_due = article.appears <= minute < article.leaves
        if is_due and article.name not in there:
            bandit.add_arm(article.name)
        elif not is_due and article.name in there:
            bandit.retire_arm(article.name)


def someone(minute: int, rng: np.random.Generator) -> dict[str, float | str]:
    """Return what is known about a visitor."""
    evening = minute / MINUTES
    device = "phone" if rng.random() < 0.3 + 0.4 * evening else "desktop"
    return {"interest": TOPICS[int(rng.integers(4))], "device": device, "evening": evening}


def table(days: Mapping[str, Day]) -> str:
    """Return clicks of all policies as lines of text."""
    lines = [f"{'policy':24} visits   clicks   clicks per visit   ±95%"]
    for name, day in days.items():
        n, rate = len(day.clicked), float(np.mean(day.clicked))
        margin = 1.96 * (rate * (1 - rate) / n) ** 0.5
        lines.append(f"{name:24} {n:6}   {sum(day.clicked):6}   {rate:16.3f}   {margin:.3f}")
    return "\n".join(lines)


def picture(days: Mapping[str, Day], today: Sequence[Article]) -> Figure:
    """Return clicks so far of all policies, and what the first of them showed when."""
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(7, 5.5), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.2])
        for (name, day), colour, dashes in zip(
            days.items(), plots.COLOURS, plots.DASHES, strict=False
        ):
            hours = np.array(day.minute) / 60
            above.plot(hours, np.cumsum(day.clicked), color=colour, linestyle=dashes, label=name)
        above.set(ylabel="clicks so far", ylim=(0, None), xlim=(0, 24))
        above.legend(frameon=False)
        _show_articles(below, next(iter(days.values())), today)
        below.set(xlabel="hour of the day", title=f"what {next(iter(days))} showed")
    return figure


def _show_articles(panel: mpl.axes.Axes, day: Day, today: Sequence[Article]) -> None:
    """Draw a row for each article: when it was there, and darker the more often it was shown."""
    hour, shown = np.array(day.minute) / 60, np.array(day.shown)
    visits, edges = np.histogram(hour, bins=48, range=(0, 24))
    for i, article in enumerate(today):
        there = (article.appears / 60, min(article.leaves, MINUTES) / 60)
        panel.hlines(i, *there, color="0.85", linewidth=7)
        share = np.histogram(hour[shown == article.name], bins=edges)[0] / np.maximum(visits, 1)
        colours = [(*mpl.colors.to_rgb(plots.COLOURS[0]), float(part)) for part in share]
        panel.hlines([i] * 48, edges[:-1], edges[1:], colors=colours, linewidth=7)
    panel.set_yticks(range(len(today)), [article.name for article in today])
    panel.invert_yaxis()
    panel.grid(visible=False)


def main() -> None:
    """Play a day with each policy."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--visitors", type=int, default=6000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=Path, default=Path("news.png"))
    given = arguments.parse_args()
    days = {name: play(text, given.visitors, given.seed) for name, text in POLICIES.items()}
    print(table(days))
    plots.save(picture(days, articles(given.seed)), given.out)


if __name__ == "__main__":
    main()
