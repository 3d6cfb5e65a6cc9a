"""Write the tables of docs/reproduction.md, from the results that the commands left behind."""

import csv
import re
import statistics
from collections.abc import Callable
from pathlib import Path

from giro.paper.studies._bakeoff_sets import PAPER

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "reproduction.md"
BETWEEN = re.compile(r"(<!-- table: ([\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Row = dict[str, str]


def rows(name: str) -> list[Row]:
    """Return the rows of a table of results."""
    with (ROOT / "results" / f"{name}.csv").open(newline="") as file:
        next(file)  # the command
        return list(csv.DictReader(file))


def markdown(head: list[str], body: list[list[str]]) -> str:
    """Return a table in Markdown, numbers to the right."""
    rule = ["---" if i == 0 else "---:" for i in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, rule, *body])


def short(problem: str) -> str:
    """Return a problem without what all problems of the figure have in common."""
    return re.sub(r"[:,]n_arms=.*|classification:data=|,scale=.*", "", problem)


def finals(folder: str, bound: bool = False) -> str:
    """Return final regrets, a row for each policy and a column for each problem."""
    found = rows(f"{folder}/finals")
    problems = list(dict.fromkeys(row["problem"] for row in found))
    policies = list(dict.fromkeys(row["policy"] for row in found))
    cell = {(row["policy"], row["problem"]): _final(row, bound) for row in found}
    body = [[f"`{policy}`", *(cell[policy, p] for p in problems)] for policy in policies]
    return markdown(["", *(f"`{short(problem)}`" for problem in problems)], body)


def _final(row: Row, bound: bool) -> str:
    text = f"{float(row['regret']):.1f} ± {float(row['regret_se']):.1f}"
    return f"{text} (≥ {float(row['bound']):.1f})" if bound and row["bound"] else text


def rewards(folder: str) -> str:
    """Return rewards per round, a row for each policy and a column for each problem."""
    found = rows(f"{folder}/finals")
    problems = list(dict.fromkeys(row["problem"] for row in found))
    policies = list(dict.fromkeys(row["policy"] for row in found))
    most = max(int(row["runs"]) for row in found)
    cell = {(row["policy"], row["problem"]): _reward(row, most) for row in found}
    body = [[f"`{policy}`", *(cell.get((policy, p), "–") for p in problems)] for policy in policies]
    return markdown(["", *(short(problem).capitalize() for problem in problems)], body)


def _reward(row: Row, most: int) -> str:
    runs, error = int(row["runs"]), row["reward_se"]
    text = f"{float(row['reward']):.4f}" + (f" ± {float(error):.4f}" if runs > 1 else "")
    return text if runs == most else f"{text} ({runs} run{'s' * (runs > 1)})"


def by_setting() -> str:
    """Return the verdict on each claim in each setting, and what the rule looks at."""
    found = rows("settings/claims")
    settings = list(dict.fromkeys((row["scale"], row["fit"]) for row in found))
    texts = {row["number"]: row["claim"] for row in found}
    cell = {(row["number"], row["scale"], row["fit"]): _verdict_and_counts(row) for row in found}
    rule = {(row["scale"], row["fit"]): (row["rule"], row["rule_se"]) for row in found}
    body = [
        [f"{number}. {text}", *(cell.get((number, *setting), "–") for setting in settings)]
        for number, text in texts.items()
    ]
    earned = [_earned(*rule[setting]) for setting in settings]
    body.append(["reward of linear and logistic ε-greedy", *earned])
    return markdown(["", *(", ".join(setting) for setting in settings)], body)


def _earned(mean: str, se: str) -> str:
    return (f"{float(mean):.4f}" if mean else "–") + (f" ± {float(se):.4f}" if se else "")


def _verdict_and_counts(row: Row) -> str:
    """Return the verdict, and how many of the claim's comparisons are for it, hold and fail."""
    there, missing = int(row["comparisons"]), int(row["missing"])
    counts = f"{row['positive']} of {there} for it, {row['holding']} hold, {row['failing']} fail"
    return f"**{row['verdict']}** ({counts}" + (f"; {missing} not played)" if missing else ")")


def _said(row: Row) -> str:
    """Return the verdict, and how much of the claim it is about if that is not all."""
    there, missing = int(row.get("comparisons") or 0), int(row.get("missing") or 0)
    return f"**{row['verdict']}**" + (f" ({there} of {there + missing} played)" if missing else "")


def offline() -> str:
    """Return how often models trained on the rewards of all arms are right."""
    body = [
        [
            f"{row['data'].capitalize()}, {row['model']}",
            row["passes"],
            f"{float(row['seen']):.4f} ± {float(row['seen_se']):.4f}",
            f"{float(row['unseen']):.4f} ± {float(row['unseen_se']):.4f}",
        ]
        for row in rows("offline/scores")
    ]
    return markdown(["", "passes", "rows trained on", "other rows"], body)


def claims(folder: str) -> str:
    """Return the verdicts, each with the comparison that decides it."""
    body = [
        [
            f"{row['number']}. {row['claim']}",
            _said(row),
            _estimate(row),
            f"`{row['weakest']}` on `{short(row['problem'])}`",
        ]
        for row in rows(f"{folder}/claims")
    ]
    return markdown(["claim", "verdict", "weakest comparison", "where"], body)


def comparisons(folder: str, *numbers: str) -> str:
    """Return all comparisons behind the claims whose number starts so."""
    body = [
        [f"`{row['comparison']}`", f"`{short(row['problem'])}`", _estimate(row), row["verdict"]]
        for row in rows(f"{folder}/comparisons")
        if row["number"].startswith(numbers)
    ]
    return markdown(["comparison", "problem", "gain", ""], body)


def _estimate(row: Row) -> str:
    units = {"regret": 3 if abs(float(row["estimate"])) < 1 else 1, "R²": 3}
    decimals = units.get(row["unit"], 4)
    estimate, error = (f"{float(row[key]):.{decimals}f}" for key in ("estimate", "se"))
    return f"{estimate} ± {error} {row['unit']}"


def field() -> str:
    """Return giro against the field: a row for each policy, a column for each set of the paper."""
    found = [row for row in rows("bakeoff/field") if row["data"] in PAPER]
    policies = dict.fromkeys((row["library"], row["policy"]) for row in found)
    body = [
        [f"{library} `{policy}`", *(_of_field(found, library, policy, name) for name in PAPER)]
        for library, policy in policies
    ]
    return markdown(["", *(f"{name.capitalize()}" for name in PAPER)], body)


def _of_field(found: list[Row], library: str, policy: str, data: str) -> str:
    """Return mean reward ± standard error over orders, seconds, and what is missing."""
    wanted = (library, policy, data)
    lines = [row for row in found if (row["library"], row["policy"], row["data"]) == wanted]
    if not lines:
        return "–"
    rewards = [float(row["mean_reward"]) for row in lines]
    seconds = statistics.mean(float(row["seconds"]) for row in lines)
    error = statistics.stdev(rewards) / len(lines) ** 0.5 if len(lines) > 1 else None
    text = f"{statistics.mean(rewards):.4f}" + (f" ± {error:.4f}" if error is not None else "")
    return f"{text}, {seconds:.1f} s{_short_of_all(found, lines)}"


def _short_of_all(found: list[Row], lines: list[Row]) -> str:
    orders = max(int(row["order"]) for row in found) + 1
    rounds = min(int(row["rounds"]) for row in lines)
    notes = [f"{len(lines)} of {orders} orders"] if len(lines) < orders else []
    if rounds < max(int(row["rounds"]) for row in found):
        notes.append(f"{rounds:,} rounds")
    return f" ({', '.join(notes)})" if notes else ""


def made_by(name: str) -> str:
    """Return the command that made a table of results."""
    first = (ROOT / "results" / f"{name}.csv").read_text().splitlines()[0]
    return f"`{first.removeprefix('# ').partition(' (')[0]}`\n"


TABLES: dict[str, Callable[[], str]] = {
    "mab command": lambda: made_by("mab/claims"),
    "mab regret": lambda: finals("mab"),
    "mab claims": lambda: claims("mab"),
    "mab claim 2": lambda: comparisons("mab", "2"),
    "mab claim 5": lambda: comparisons("mab", "5"),
    "linear-regret command": lambda: made_by("linear-regret/claims"),
    "linear-regret regret": lambda: finals("linear-regret", bound=True),
    "linear-regret claims": lambda: claims("linear-regret"),
    "settings command": lambda: made_by("settings/claims"),
    "settings": by_setting,
    "contextual command": lambda: made_by("contextual/claims"),
    "contextual reward": lambda: rewards("contextual"),
    "contextual claims": lambda: claims("contextual"),
    "contextual models": lambda: comparisons("contextual", "4", "5", "6"),
    "offline command": lambda: made_by("offline/claims"),
    "offline": offline,
    "offline claims": lambda: claims("offline"),
    "field command": lambda: made_by("bakeoff/field"),
    "field": field,
}


def current(text: str) -> str:
    """Return the document with its tables as the results have them now."""
    return BETWEEN.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


if __name__ == "__main__":
    DOCUMENT.write_text(current(DOCUMENT.read_text()))
