"""Check over HTTP that a service learns, and that the probabilities it tells are true.

    python scripts/service_truth.py [--only learning truth] [--decisions 20_000] [--quick]

Writes results/service/truth.json:

- `learning`: 2,000 rounds through Personalizer's door, where every action id is new and only
  features tell, and through OpenFeature's, where contexts decide; the share that was right in the
  last 500, beside chance.
- `propensities`: decisions of four workers on one bandit that learns meanwhile. Chi-square compares
  how often each arm came with the sum of the probabilities that were told with each decision, which
  may all differ. Choices were told as they are in the log.
- `ips`: the log that `GET .../events` exports, read by `giro.evaluate`. IPS has to find the mean
  reward of each arm, which the simulated world knows.

`python scripts/tables.py` writes the tables of docs/service.md from it.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom, chi2

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "results" / "service" / "truth.json"
sys.path.insert(0, str(ROOT / "tests"))

from servers import KEY, SERVE, Server, Wire, empty_store, free_port  # noqa: E402  # of the tests

import giro  # noqa: E402
from giro.seeds import stream  # noqa: E402
from giro.version import stamp  # noqa: E402

SEEDS = (1, 2, 3)
WORKERS = 4
CALLERS = 16
TIMES, TASTES = ("morning", "evening"), ("sweet", "salty", "hot", "sour")
LIKED = {"morning": "sweet", "evening": "hot"}
COUNTRIES = ("de", "fr")
MEANS = {  # of the rewards of arms, by country
    "calm": {"de": 0.2, "fr": 0.5},
    "loud": {"de": 0.6, "fr": 0.3},
    "plain": {"de": 0.4, "fr": 0.4},
}
BANDITS: dict[str, dict[str, Any]] = {
    "thompson": {"policy": "thompson"},
    "greedy:model=hashed, floor 0.2": {"policy": "greedy:model=hashed", "floor": 0.2},
    "default, floor 0.1": {"policy": "default", "floor": 0.1},
}


@contextlib.contextmanager
def serving(store: str, workers: int) -> Iterator[Server]:
    """Lend a server on an empty store of this kind."""
    with tempfile.TemporaryDirectory() as name, empty_store(store) as url:
        environment, program = {"GIRO_STORE": url}, [*SERVE, "--workers", str(workers)]
        with Server(program, port=free_port(), folder=Path(name), environment=environment) as one:
            one.ready()
            yield one
            one.stop()


async def ready(port: int, bandit: str) -> None:
    """Wait until all workers decide by the policy of a bandit."""
    while True:
        wires = [Wire(port) for _ in range(4 * WORKERS)]  # some for each worker
        path = f"/v1/bandits/{bandit}/summary"
        answers = await asyncio.gather(*(wire.told(path) for wire in wires))
        for wire in wires:
            wire.close()
        if all(answer["ready"] for answer in answers):
            return
        await asyncio.sleep(0.2)


# -- learning ------------------------------------------------------------------------------------


async def by_features(port: int, seed: int, *, rounds: int) -> list[bool]:
    """Return whether each choice was right. Every action id is new."""
    rng, right = stream(seed), list[bool]()
    async with Wire(port) as wire:
        key = await wire.told("/v1/keys", {"loop": f"loop-{seed}"})
    async with Wire(port, key=key["secret"]) as wire:
        for number in range(rounds):
            time = TIMES[int(rng.integers(2))]
            tastes = [TASTES[i] for i in rng.permutation(4)]
            actions = [
                {"id": f"{number}-{i}", "features": [{"taste": taste}]}
                for i, taste in enumerate(tastes)
            ]
            body = {"actions": actions, "contextFeatures": [{"time": time}]}
            answer = await wire.told("/personalizer/v1.0/rank", body)
            taste = tastes[int(answer["rewardActionId"].split("-")[1])]
            right.append(taste == LIKED[time])
            reward = {"value": float(right[-1])}
            path = f"/personalizer/v1.0/events/{answer['eventId']}/reward"
            await wire.told(path, reward)
            if number == 0:
                await ready(port, f"loop-{seed}")
    return right


async def by_context(port: int, seed: int, *, rounds: int) -> list[bool]:
    """Return whether each visitor saw the right value of a flag."""
    rng, flag = stream(seed), f"flag-{seed}"
    right = list[bool]()
    async with Wire(port) as wire:
        new = {"name": flag, "arms": ["red", "green"], "policy": "lin-ucb:scale=0.5"}
        await wire.told("/v1/bandits", new)
        for number in range(rounds):
            device, best = (("phone", "red"), ("desktop", "green"))[int(rng.integers(2))]
            visitor = {"targetingKey": f"{seed}/{number}", "device": device}
            path = f"/ofrep/v1/evaluate/flags/{flag}"
            read = await wire.told(path, {"context": visitor})
            right.append(read["value"] == best)
            value = float(rng.random() < (0.8 if right[-1] else 0.2))
            body = {"targetingKey": visitor["targetingKey"], "value": value}
            await wire.told(f"/v1/bandits/{flag}/rewards", body)
            if number == 0:
                await ready(port, flag)
    return right


DOORS: dict[str, tuple[Callable[..., Coroutine[Any, Any, list[bool]]], float]] = {  # and chance
    "Personalizer": (by_features, 0.25),
    "OpenFeature": (by_context, 0.5),
}


def learning(*, rounds: int, last: int) -> Iterator[dict[str, Any]]:
    """Yield how often each door was right in the end. All play at once, on loops of their own."""
    games = [(door, seed) for door in DOORS for seed in SEEDS]

    async def all_played(port: int) -> list[list[bool]]:
        return await asyncio.gather(*(DOORS[d][0](port, seed, rounds=rounds) for d, seed in games))

    with serving("sqlite", 1) as server:
        played = asyncio.run(all_played(server.port))
    for (door, seed), every in zip(games, played, strict=True):
        right, chance = sum(every[-last:]), DOORS[door][1]
        yield {
            "door": door,
            "seed": seed,
            "rounds": rounds,
            "last": last,
            "right": right / last,
            "chance": chance,
            "p_by_chance": float(f"{binom.sf(right - 1, last, chance):.2g}"),
        }


# -- probabilities -------------------------------------------------------------------------------


async def play(port: int, bandit: str, *, decisions: int, seed: int) -> list[dict[str, Any]]:
    """Return all decisions, each rewarded as the world has it."""
    made = list[dict[str, Any]]()

    async def call(number: int) -> None:
        rng = stream(seed, number)
        async with Wire(port) as wire:
            for _ in range(decisions // CALLERS):
                country = COUNTRIES[int(rng.integers(2))]
                path, body = f"/v1/bandits/{bandit}/decisions", {"context": {"country": country}}
                decision = await wire.told(path, body)
                made.append(decision)
                value = float(rng.random() < MEANS[decision["arm"]][country])
                await wire.told(f"/v1/decisions/{decision['id']}/reward", {"value": value})

    await asyncio.gather(*map(call, range(CALLERS)))
    return made


def chi_square(made: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the statistic of arms against the probabilities told, and its p-value.

    Given the past, each choice is a draw from its own probabilities, so the differences add up to a
    martingale whose covariance is the sum of those of the draws.
    """
    arms = list(MEANS)
    chances = np.array([[each["propensities"][arm] for arm in arms] for each in made])
    chosen = np.array([[each["arm"] == arm for arm in arms] for each in made])
    off = (chosen - chances).sum(axis=0)[:-1]  # the last follows from the others
    covariance = np.diag(chances.sum(axis=0)) - chances.T @ chances
    value = float(off @ np.linalg.solve(covariance[:-1, :-1], off))
    return value, float(chi2.sf(value, len(arms) - 1))


def truth(*, decisions: int, stores: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    """Return rows about propensities, and about estimates from the exported log."""
    told, estimated = list[dict[str, Any]](), list[dict[str, Any]]()
    for store in stores:
        with serving(store, WORKERS) as server:
            for number, (name, parameters) in enumerate(BANDITS.items()):
                bandit = f"b{number}"
                asyncio.run(_made(server.port, bandit, parameters))
                made = asyncio.run(play(server.port, bandit, decisions=decisions, seed=number))
                log = Path(tempfile.gettempdir(), f"giro-{server.port}-{bandit}.jsonl")
                try:
                    export(server, bandit, log)
                    told.append({"store": store, "bandit": name, **compared(made, log)})
                    estimated += [{"store": store, "bandit": name, **row} for row in by_ips(log)]
                finally:
                    log.unlink(missing_ok=True)
    return {"propensities": told, "ips": estimated}


async def _made(port: int, bandit: str, parameters: dict[str, Any]) -> None:
    """Make a bandit, and wait until it decides by its policy, everywhere."""
    async with Wire(port) as wire:
        new = {"name": bandit, "arms": list(MEANS), "first_decisions": None, **parameters}
        await wire.told("/v1/bandits", new)
    await play(port, bandit, decisions=10 * CALLERS, seed=1000)
    await ready(port, bandit)


def compared(made: list[dict[str, Any]], log: Path) -> dict[str, Any]:
    """Return the test, and how many decisions are not in the log as they were told."""
    logged = {}
    for line in log.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["kind"] == "decision":
            logged[event["id"]] = (event["arm"], event["propensity"])
    statistic, p = chi_square(made)
    other = sum(logged.get(each["id"]) != (each["arm"], each["propensity"]) for each in made)
    least = min(min(each["propensities"].values()) for each in made)
    row = {"workers": WORKERS, "decisions": len(made), "least": least, "not_as_logged": other}
    return {**row, "chi_square": round(statistic, 2), "p": round(p, 4)}


def by_ips(log: Path) -> Iterator[dict[str, Any]]:
    """Yield the estimate of each arm's mean reward, and the mean that the world has."""
    events = giro.read_log(log, progress=False)
    for arm, means in MEANS.items():
        (row,) = giro.evaluate(
            events, f"always:{arm}", estimators=["ips"], progress=False
        ).records()
        true = sum(means[country] for country in COUNTRIES) / len(COUNTRIES)
        interval = {key: round(float(row[key]), 4) for key in ("value", "low", "high")}
        yield {
            "events": events.events,
            "arm": arm,
            "truth": round(true, 4),
            **interval,
            "covers": interval["low"] <= true <= interval["high"],
        }


def export(server: Server, bandit: str, path: Path) -> None:
    """Write the log of a bandit to a file, as `curl` would."""
    url = f"{server.url}/v1/bandits/{bandit}/events"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as answer:
        path.write_bytes(answer.read())


# -- the program -----------------------------------------------------------------------------------


def main() -> None:
    """Play, and keep the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=["learning", "truth"])
    parser.add_argument("--decisions", type=int, default=20_000, help="of each bandit, for truth")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    words = " ".join(["python scripts/service_truth.py", *sys.argv[1:]])
    content: dict[str, Any] = {}
    if options.out.exists():
        content = json.loads(options.out.read_text("utf-8"))
    content["made_by"] = stamp(words)._asdict()
    parts = options.only or ["learning", "truth"]
    if "learning" in parts:
        shape = {"rounds": 200, "last": 50} if options.quick else {"rounds": 2000, "last": 500}
        content["learning"] = list(learning(**shape))
    if "truth" in parts:
        decisions = 320 if options.quick else options.decisions
        stores = ("sqlite",) if options.quick else ("sqlite", "postgres")
        content |= truth(decisions=decisions, stores=stores)
    print(json.dumps(content, indent=1))  # noqa: T201
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
