"""Write what the benchmarks of arms with features found into their page."""

import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "arms"
PAGE = ROOT / "docs" / "howto" / "arms-with-features.md"
JUDGING = "200"  # the seed of runs that nothing was chosen on
PROBLEMS = ("movielens", "covertype")


def quality() -> str:
    """Return mean rewards on the judging runs as a table, the best first."""
    rewards: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (RESULTS / "quality.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(line for line in file if not line.startswith("#")))
    newest = {(r["problem"], r["library"], r["policy"], r["seed"], r["run"]): r for r in lines}
    for row in newest.values():
        if row["seed"] == JUDGING:
            who = row["library"], re.sub(r" -l [\d.]+", "", row["policy"])
            rewards[who][row["problem"]].append(float(row["mean_reward"]))
    found = []
    for (library, policy), by_problem in rewards.items():
        means = [np.mean(by_problem[p]) if by_problem[p] else np.nan for p in PROBLEMS]
        cells = [_mean(by_problem[problem]) for problem in PROBLEMS]
        found.append((np.nansum(means), f"| {library} `{policy}` | {' | '.join(cells)} |"))
    lines_of_table = [line for _, line in sorted(found, reverse=True)]
    head = f"| | {' | '.join(PROBLEMS)} |\n| --- | ---: | ---: |\n"
    return head + "\n".join(lines_of_table) + "\n"


def _mean(values: list[float]) -> str:
    if len(values) < 2:
        return ""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.4f} ± {error:.4f}"


def speed() -> str:
    """Return times of a round, and how a stream of new words goes."""
    found = json.loads((RESULTS / "speed.json").read_text())
    rounds = found["movielens_us_per_round"]
    vw = next(us for who, us in rounds.items() if "line by line" in who)
    text = ["| a round of `movielens` | µs | VW line by line takes |", "| --- | ---: | ---: |"]
    text += [f"| {who} | {us:,.3g} | {vw / us:.1f}x |" for who, us in rounds.items()]
    for against, several in found["us_per_round_against"].items():
        sizes = [f"{size:,}" for size in found["sizes"]]
        text += ["", f"| µs a round, {against}: | {' | '.join(sizes)} |"]
        text += ["| --- |" + " ---: |" * len(sizes)]
        text += [
            f"| {who} | {' | '.join(f'{us:,.4g}' for us in us_of)} |"
            for who, us_of in several.items()
        ]
    return "\n".join([*text, "", _stream(found["stream"])]) + "\n"


def _stream(found: dict[str, dict[str, object]]) -> str:
    memory, ms = list(found["memory_mb"].values()), found["milliseconds"]
    decide, reward = ms["decide"], ms["reward"]
    return (
        f"A stream of {found['arms']:,} arms that come and go, with {found['words']:,} words of "
        f"their own, kept in SQLite (`{found['command']}`): {memory[0]} MB of memory after a tenth "
        f"of the rounds and {memory[-1]} MB at the end. A decision among 20 takes "
        f"{decide['p50']} ms (p50), {decide['p99']} ms (p99) and {decide['longest']} ms at most, a "
        f"reward {reward['p50']}, {reward['p99']} and {reward['longest']} ms."
    )


def main() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text()
    for name, text in (("quality", quality()), ("speed", speed())):
        pattern = (
            rf"(<!-- {name}: written by scripts/arms_table.py -->\n).*?(<!-- end of {name} -->)"
        )
        page = re.sub(pattern, lambda m, t=text: f"{m[1]}\n{t}\n{m[2]}", page, flags=re.DOTALL)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
