"""Articles that come and go, with words never seen before: memory, and the longest wait.

    python benchmarks/arms_stream.py [--rounds 100000]

Each round brings a new article, of eleven words, ten of them new, and a number; the last twenty are
on offer to a reader of a few features. So 100,000 rounds have 100,000 arms and a million words. The
bandit is kept in SQLite, in a folder of its own. Printed and written to results/arms/stream.json:
the memory of the process as rounds go by, and how long calls take, the longest above all.
"""

import argparse
import gc
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from ratio import say

import giro
from giro.seeds import stream
from giro.version import stamp

RESULT = Path(__file__).parent.parent / "results" / "arms" / "stream.json"
ON_OFFER, WORDS = 20, 11
POLICY = "giro-ensemble:model=hashed,replicas=20"


def article(number: int, rng: np.random.Generator) -> dict[str, object]:
    """Return features: ten words of its own and one of fifty, and a length."""
    words = [f"w{number * (WORDS - 1) + i}" for i in range(WORDS - 1)]
    return {"words": [*words, f"topic {rng.integers(50)}"], "length": int(rng.integers(10_000))}


def resident() -> int:
    """Return the memory of this process now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 2**20


def main() -> None:
    """Play, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100_000)
    rounds = parser.parse_args().rounds
    rng, waits = stream(1), {"decide": list[float](), "reward": list[float]()}
    memory: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        bandit = giro.Bandit(policy=POLICY, name="news", store=f"sqlite:///{folder}/news.db")
        on_offer = {f"article {i}": article(i, rng) for i in range(ON_OFFER)}
        bandit.warm_up({"age": 30, "from": "x"}, arms=on_offer)
        for i in range(10):  # what is compiled and opened first is not the stream's
            bandit.reward(bandit.decide({"age": 30, "from": "x"}, arms=on_offer).id, i / 10)
        gc.freeze()
        for number in range(ON_OFFER, ON_OFFER + rounds):
            del on_offer[next(iter(on_offer))]
            on_offer[f"article {number}"] = article(number, rng)
            reader = {"age": int(rng.integers(80)), "from": f"c{rng.integers(30)}"}
            before = time.perf_counter()
            decision = bandit.decide(reader, arms=on_offer)
            between = time.perf_counter()
            bandit.reward(decision.id, float(rng.random() < 0.3))
            waits["decide"].append(between - before)
            waits["reward"].append(time.perf_counter() - between)
            done = number - ON_OFFER + 1
            if done % max(1, rounds // 10) == 0:
                memory[done] = resident()
                say(f"{done:>9,} rounds {memory[done]:>6,} MB")
        used = bandit.collisions()
        bandit.close()
    ms = {
        call: {
            "p50": round(1e3 * float(np.median(times)), 3),
            "p99": round(1e3 * float(np.quantile(times, 0.99)), 3),
            "longest": round(1e3 * max(times), 3),
        }
        for call, times in waits.items()
    }
    say(f"{ms}\n{used}")
    content = {
        "made_by": stamp(f"python benchmarks/arms_stream.py --rounds {rounds}")._asdict(),
        "policy": POLICY,
        "arms": rounds + ON_OFFER,
        "words": (rounds + ON_OFFER) * (WORDS - 1),
        "memory_mb": memory,
        "milliseconds": ms,
        "collisions": used._asdict(),
    }
    RESULT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
