"""Kill processes at random moments, again and again, and look whether anything was lost.

    python scripts/torture.py [--store sqlite|postgres] [--cycles 1000] [--seed 0]

Four processes work on two bandits of one store: they decide, reward each other's decisions, let
decisions expire, add and retire arms and keep snapshots. One bandit they open themselves. The other
is their parent's: they are forked while a thread of the parent uses it. In every cycle one of them
is killed by SIGKILL, and another takes its place. Every fiftieth cycle all begin with an empty
store, so that some are killed while they make the bandit. Each process notes, after a call has
returned, what it was told. In the end, of each bandit:

- every decision and reward that was told is in the log, once, and as it was told;
- no decision has two rewards, and no reward is without a decision;
- every state that a process had, at every position it told of, is the one that a replay of the log
  has there, bit for bit.

It needs `fork`, for SQLite nothing else, and for PostgreSQL the server of the tests.
"""

import argparse
import contextlib
import functools
import hashlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from giro import BadParameter, Bandit, GiroError
from giro.bandit.event import Decided, Event, Rewarded
from giro.bandit.state import BanditState
from giro.bandit.stores import Store, opened
from giro.policy import arrays_of
from giro.seeds import stream

WORKERS, EPOCH, POLICY = 4, 50, "thompson"
ARMS = ["a", "b", "c"]


def digest_of(state: BanditState) -> str:
    """Return a digest of all that a policy has learned."""
    found = hashlib.sha256()
    arrays = {} if state.live is None else arrays_of(state.live.state) or {}
    for path, array in sorted(arrays.items()):
        found.update(path.encode() + array[: len(state.arms)].tobytes())
    found.update(repr((state.n_decisions, state.n_rewards, state.active.tolist())).encode())
    return found.hexdigest()[:16]


def work(where: str, inherited: Bandit, notes: Path, seed: int) -> None:
    """Use the bandits until killed; note what was told."""
    rng = stream(seed, os.getpid())
    while True:
        try:
            bandit = Bandit(ARMS, POLICY, name="x", store=where, seed=3)
            break
        except GiroError as error:
            noted(notes, "x")("#", error)
    turns = [
        (each, noted(notes, name), list[str]()) for each, name in ((bandit, "x"), (inherited, "y"))
    ]
    while True:
        each, note, mine = turns[int(rng.random() * 2)]
        try:
            _act(each, rng, mine, note)
        except GiroError as error:  # a reward that came too late, the last arm
            note("#", type(error).__name__, error)


def noted(notes: Path, name: str) -> Callable[..., None]:
    """Return a function that notes words about a bandit."""
    file = os.open(f"{notes}-{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda *words: os.write(file, (" ".join(map(str, words)) + "\n").encode()) and None


def _act(
    bandit: Bandit, rng: np.random.Generator, mine: list[str], note: Callable[..., None]
) -> None:
    """Do something with the bandit."""
    dice = rng.random()
    if dice < 0.45 or not mine:
        decision = bandit.decide()
        note("D", decision.id, decision.arm, repr(decision.propensity))
        mine.append(decision.id)
    elif dice < 0.85:
        id, value = mine.pop(int(rng.random() * len(mine))), float(rng.random() < 0.5)
        bandit.reward(id, value)
        note("R", id, value)
    elif dice < 0.88:
        for decision in bandit.expire(0.2):
            note("E", decision.id)
    elif dice < 0.9:
        bandit._follower._keep_snapshot()
    elif dice < 0.92:
        arm = "abcdef"[int(rng.random() * 6)]
        (bandit.retire_arm if arm in bandit.arms else bandit.add_arm)(arm)
    else:
        with bandit._follower.lock:
            position, digest = bandit.position, digest_of(bandit._state)
        note("S", position, digest)


def started(where: str, inherited: Bandit, folder: Path, seed: int) -> tuple[int, Path]:
    """Start a worker; return its process and its notes."""
    notes = folder / f"notes-{seed}"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            work(where, inherited, notes, seed)
        finally:
            os._exit(1)
    return child, notes


@contextlib.contextmanager
def busy_parent(where: str, notes: Path) -> Iterator[Bandit]:
    """Lend a bandit that a thread of this process uses all the time."""
    stop, failures = threading.Event(), list[BaseException]()
    bandit = Bandit(ARMS, POLICY, name="y", store=where, seed=3)
    note = noted(notes, "y")

    def use() -> None:
        try:
            while not stop.wait(0.001):
                decision = bandit.decide()
                note("D", decision.id, decision.arm, repr(decision.propensity))
                with contextlib.suppress(BadParameter):  # it expired
                    bandit.reward(decision.id, 1.0)
                    note("R", decision.id, 1.0)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    try:
        yield bandit
    finally:
        stop.set()
        thread.join()
        bandit.close()
    assert failures == [], failures


def checked(where: str, name: str, notes: list[Path]) -> Counter[str]:
    """Compare what was told of a bandit with what is in its log."""
    store = opened(where, name)
    events = list(_all(store))
    decided = Counter(e.id for e in events if isinstance(e, Decided))
    rewarded = Counter(e.id for e in events if isinstance(e, Rewarded))
    decisions = {e.id: e for e in events if isinstance(e, Decided)}
    rewards = {e.id: e for e in events if isinstance(e, Rewarded)}
    assert all(count == 1 for count in (decided + Counter()).values()), "a decision twice"
    assert all(count == 1 for count in rewarded.values()), "a reward twice"
    assert rewarded.keys() <= decided.keys(), "a reward without a decision"
    counts, states = Counter(events=len(events)), dict[int, set[str]]()
    for path in (Path(f"{path}-{name}") for path in notes):
        for line in path.read_text().split("\n")[:-1] if path.exists() else ():
            kind, *words = line.split(" ")
            counts[kind] += 1
            if kind == "D":
                assert repr(decisions[words[0]].propensity) == words[2], line
            elif kind == "R":
                assert rewards[words[0]].value == float(words[1]), line
            elif kind == "E":
                assert words[0] in rewards, line
            elif kind == "S":
                states.setdefault(int(words[0]), set()).add(words[1])
    _check_states(store, events, states)
    store.close()
    return counts


def _check_states(store: Store, events: list[Event], states: dict[int, set[str]]) -> None:
    """Replay the log, and look at every position that somebody told of."""
    state = BanditState()
    for event in events:
        state.apply([event], store.find)
        told = states.pop(state.position, None)
        assert told is None or told == {digest_of(state)}, f"another state at {state.position}"
    assert states == {}, "a state of events that are not there"


def _all(store: Store) -> list[Event]:
    events: list[Event] = []
    while more := store.read(len(events), 10_000):
        events += more
    return events


def torture(kind: str, cycles: int, seed: int) -> Counter[str]:
    """Kill workers in this many cycles; return how much was told."""
    rng, total = stream(seed), Counter[str]()
    Bandit(ARMS, POLICY).warm_up()
    for first in range(0, cycles, EPOCH):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            where = f"sqlite:///{folder}/torture.db" if kind == "sqlite" else _database()
            notes = [folder / "notes-parent"]
            with busy_parent(where, notes[0]) as inherited:
                begin = functools.partial(started, where, inherited, folder)
                running = [begin(seed) for seed in range(first, first + WORKERS)]
                notes += [path for _, path in running]
                for cycle in range(first, min(first + EPOCH, cycles)):
                    time.sleep(0.3 * rng.random() ** 2)
                    child, _ = running.pop(int(rng.random() * len(running)))
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    running.append(begin(WORKERS + cycle))
                    notes.append(running[-1][1])
                for child, _ in running:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            for bandit in ("x", "y"):
                total += checked(where, bandit, notes)
        print(f"{kind}: {min(first + EPOCH, cycles)} cycles, {dict(total)}", flush=True)  # noqa: T201
    return total


def _database() -> str:
    from bandit.stores.postgres import new_database, url_or_reason  # noqa: PLC0415  # of the tests

    url, reason = url_or_reason()
    if url is None:
        raise SystemExit(reason)
    return new_database(url)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    told = torture(options.store, options.cycles, options.seed)
    print(  # noqa: T201
        f"{options.cycles} kills on {options.store}: {told['D']} decisions and {told['R']} rewards "
        f"acknowledged, {told['S']} states compared, {told['events']} events; nothing lost or "
        "doubled, every state equal"
    )
