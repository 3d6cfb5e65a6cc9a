"""Write every table of the documents that shows results, from the files under results/.

    python scripts/tables.py

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; `TABLES` has the names.
tests/test_pages_tables.py compares all of them, and finds tables of numbers without a name.
"""

import csv
import json
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from giro.paper.claims import LEVEL
from giro.paper.studies._bakeoff_sets import PAPER, SMALL

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BETWEEN = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)

Row = dict[str, str]
Body = list[list[str]]


# -- reading and writing ---------------------------------------------------------------------------


def rows(name: str) -> list[Row]:
    """Return the rows of a table of results."""
    with (ROOT / "results" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def content(name: str) -> dict[str, Any]:
    """Return the content of a JSON file of results."""
    return dict(json.loads((ROOT / "results" / f"{name}.json").read_text("utf-8")))


def markdown(head: Sequence[str], body: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """Return a table in Markdown; columns after the first `words` are aligned to the right."""
    rule = ["---" if i < words else "---:" for i in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, rule, *body])


def picked(records: Iterable[dict[str, Any]], heads: dict[str, str], *, words: int = 1) -> str:
    """Return some columns of records as a table; `heads` has their titles."""
    body = [[shown(record[key]) for key in heads] for record in records]
    return markdown(list(heads.values()), body, words=words)


def shown(value: object) -> str:
    """Return a cell: three digits of a number that is not whole, and commas.

    >>> shown(0.012345), shown(1234.5), shown(20000), shown("x"), shown(None)
    ('0.0123', '1,234', '20,000', 'x', '')
    """
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1e3 else f"{value:,.0f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def spread(values: Sequence[float]) -> str:
    """Return a mean ± its standard error, which one value does not have."""
    if len(values) < 2:
        return f"{values[0]:.4f}" if values else "–"
    error = statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.4f} ± {error:.4f}"


def crossed(found: list[Row], cell: Callable[[Row], str], title: Callable[[str], str]) -> str:
    """Return a row for each policy and a column for each problem."""
    problems = list(dict.fromkeys(row["problem"] for row in found))
    policies = list(dict.fromkeys(row["policy"] for row in found))
    cells = {(row["policy"], row["problem"]): cell(row) for row in found}
    body = [[f"`{p}`", *(cells.get((p, each), "–") for each in problems)] for p in policies]
    return markdown(["", *map(title, problems)], body)


# -- what was reproduced, and theory ---------------------------------------------------------------


def short(problem: str) -> str:
    """Return a problem without what all problems of the figure have in common."""
    return re.sub(r"[:,]n_arms=.*|classification:data=|,scale=.*", "", problem)


def finals(folder: str) -> str:
    """Return final regrets, with their lower bound if there is one."""

    def cell(row: Row) -> str:
        text = f"{float(row['regret']):.1f} ± {float(row['regret_se']):.1f}"
        return f"{text} (≥ {float(row['bound']):.1f})" if row.get("bound") else text

    return crossed(rows(f"{folder}/finals"), cell, lambda problem: f"`{short(problem)}`")


def rewards(folder: str) -> str:
    """Return rewards per round, with the number of runs where there are fewer."""
    found = rows(f"{folder}/finals")
    most = max(int(row["runs"]) for row in found)

    def cell(row: Row) -> str:
        runs, error = int(row["runs"]), row["reward_se"]
        text = f"{float(row['reward']):.4f}" + (f" ± {float(error):.4f}" if runs > 1 else "")
        return text if runs == most else f"{text} ({runs} run{'s' * (runs > 1)})"

    return crossed(found, cell, lambda problem: short(problem).capitalize())


def by_setting() -> str:
    """Return the verdict on each claim in each setting, and the mean that the rule compares."""
    found = rows("settings/claims")
    settings = list(dict.fromkeys((row["scale"], row["fit"]) for row in found))
    texts = {row["number"]: row["claim"] for row in found}
    cell = {(row["number"], row["scale"], row["fit"]): _counted(row) for row in found}
    rule = {(row["scale"], row["fit"]): (row["rule"], row["rule_se"]) for row in found}
    body = [
        [f"{number}. {text}", *(cell.get((number, *setting), "–") for setting in settings)]
        for number, text in texts.items()
    ]
    earned = [
        (f"{float(mean):.4f}" if mean else "–") + (f" ± {float(se):.4f}" if se else "")
        for mean, se in (rule[setting] for setting in settings)
    ]
    body.append(["reward of linear and logistic ε-greedy", *earned])
    return markdown(["", *(", ".join(setting) for setting in settings)], body)


def _counted(row: Row) -> str:
    """Return the verdict, and how many of the claim's comparisons are for it, hold and fail."""
    there, missing = int(row["comparisons"]), int(row["missing"])
    counts = f"{row['positive']} of {there} for it, {row['holding']} hold, {row['failing']} fail"
    return f"**{row['verdict']}** ({counts}" + (f"; {missing} not played)" if missing else ")")


def claims(folder: str) -> str:
    """Return the verdicts, each with the comparison that decides it."""
    body = []
    for row in rows(f"{folder}/claims"):
        there, missing = int(row.get("comparisons") or 0), int(row.get("missing") or 0)
        played = f" ({there} of {there + missing} played)" if missing else ""
        where = f"`{row['weakest']}` on `{short(row['problem'])}`"
        claim, verdict = f"{row['number']}. {row['claim']}", f"**{row['verdict']}**{played}"
        body.append([claim, verdict, _estimate(row), where])
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


def offline() -> str:
    """Return how often models trained on the rewards of all arms are right."""
    body = [
        [f"{row['data'].capitalize()}, {row['model']}", row["passes"]]
        + [f"{float(row[k]):.4f} ± {float(row[f'{k}_se']):.4f}" for k in ("seen", "unseen")]
        for row in rows("offline/scores")
    ]
    return markdown(["", "passes", "rows trained on", "other rows"], body)


def field() -> str:
    """Return giro against the field: a row for each policy, a column for each set of the paper."""
    found = [row for row in rows("bakeoff/field") if row["data"] in PAPER]
    lines: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in found:
        lines[row["library"], row["policy"], row["data"]].append(row)
    body = [
        [f"{who[0]} `{who[1]}`", *(_played(lines[(*who, name)], found) for name in PAPER)]
        for who in dict.fromkeys((row["library"], row["policy"]) for row in found)
    ]
    return markdown(["", *(name.capitalize() for name in PAPER)], body)


def _played(lines: list[Row], found: list[Row]) -> str:
    """Return the mean reward ± standard error over orders, the seconds, and what is missing."""
    if not lines:
        return "–"
    seconds = statistics.mean(float(row["seconds"]) for row in lines)
    orders, most = (max(int(row[key]) for row in found) for key in ("order", "rounds"))
    rounds = min(int(row["rounds"]) for row in lines)
    notes = [f"{len(lines)} of {orders + 1} orders"] if len(lines) <= orders else []
    notes += [f"{rounds:,} rounds"] if rounds < most else []
    text = f"{spread([float(row['mean_reward']) for row in lines])}, {seconds:.1f} s"
    return text + (f" ({', '.join(notes)})" if notes else "")


def command(name: str) -> str:
    """Return the command that made a table of results."""
    first = (ROOT / "results" / f"{name}.csv").read_text("utf-8").partition("\n")[0]
    return f"`{first.removeprefix('# ').partition(' (')[0]}`\n"


def statements() -> str:
    """Return all statements on the paper's theory."""
    body = [
        [f"`{row['command']}`", row["claim"], f"**{row['verdict']}**", row["figures"]]
        for row in rows("theory/statements")
    ]
    escaped = [[cell.replace("|", "\\|") for cell in cells] for cells in body]
    return markdown(["command", "statement", "verdict", "figures"], escaped, words=4)


# -- the bake-off ----------------------------------------------------------------------------------


def ranking() -> str:
    """Return mean ranks on the judging sets of many rows, and the default's wins and losses."""
    large = {row["name"] for row in rows("bakeoff/sets") if int(row["rows"]) >= SMALL}
    sets: dict[str, list[Row]] = defaultdict(list)
    for row in rows("bakeoff/rewards"):
        if row["half"] == "judging" and row["data"] in large:
            sets[row["data"]].append(row)
    lines: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for several in sets.values():
        means = [float(row["mean_reward"]) for row in several]
        for row, mean in zip(several, means, strict=True):
            rank = sum(other > mean for other in means) + (means.count(mean) + 1) / 2
            gain = float(row["default_gains"]) * (float(row["p_value"]) <= LEVEL)
            lines[row["library"], row["policy"]].append([rank, mean, gain > 0, gain < 0])
    body = []
    for (library, policy), found in lines.items():
        rank, mean = (statistics.mean(column) for column in list(zip(*found, strict=True))[:2])
        wins = [str(int(sum(line[i] for line in found))) for i in (2, 3)]
        shown_wins = ["", ""] if policy == "default" else wins
        if len(found) > len(sets) / 2:
            body.append((rank, [library, f"`{policy}`", f"{rank:.2f}", f"{mean:.4f}", *shown_wins]))
    head = ["library", "policy", "mean rank", "mean reward", "wins", "losses"]
    return markdown(head, [cells for _, cells in sorted(body, key=lambda line: line[0])], words=2)


def tuning() -> str:
    """Return what each value of a parameter earned, and which was chosen."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows("bakeoff/tuning"):
        found[row["parameter"]].append(row)
    body = [
        [name, "; ".join(f"{row['value']}: {row['mean_reward']}" for row in several)]
        + [row["value"] for row in several if row["chosen"]]
        for name, several in found.items()
    ]
    return markdown(["parameter", "mean reward on the tuning half", "chosen"], body, words=3)


def on_tuning_half() -> str:
    """Return what giro's policies earned on the sets of the tuning half, and their means."""
    earned: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows("bakeoff/rewards"):
        if row["half"] == "tuning" and row["library"] == "giro":
            earned[row["policy"]][row["data"]] = float(row["mean_reward"])
    policies = sorted(earned)
    sets = sorted(set.intersection(*(set(of) for of in earned.values())))
    body = [[f"`{name}`", *(f"{earned[policy][name]:.4f}" for policy in policies)] for name in sets]
    means = [f"{statistics.mean(earned[policy][name] for name in sets):.4f}" for policy in policies]
    return markdown(["", *(f"`{policy}`" for policy in policies)], [*body, ["mean", *means]])


def ensemble() -> str:
    """Return what settings of giro-ensemble earned, and where two of them stand."""
    body = [[f"`{row['setting']}`", *list(row.values())[1:]] for row in rows("bakeoff/ensemble")]
    return markdown(["setting", "half", "sets", "mean reward", "mean rank"], body, words=2)


def data_sets(which: Callable[[Row], bool]) -> str:
    """Return the data sets that are meant, with their sources."""
    heads = {key: key for key in ("set", "rows", "columns", "arms", "reward", "commonest")}
    heads |= {key: key for key in ("half", "source", "licence", "digest")}
    records = [
        {**row, "set": f"`{row['name']}`: {row['about']}", "rows": int(row["rows"])}
        | {"digest": f"`{row['digest']}`"}
        for row in rows("bakeoff/sets")
        if which(row)
    ]
    return picked(records, heads)


def half(name: str) -> str:
    """Return the sets of a half that have many rows."""
    return data_sets(lambda row: row["half"] == name and int(row["rows"]) >= SMALL)


# -- bandits ---------------------------------------------------------------------------------------


def stores(what: str, heads: dict[str, str]) -> str:
    """Return a part of what benchmarks/stores.py measured."""
    return picked(content("bandit/stores")[what], heads, words=2)


def arms_quality() -> str:
    """Return mean rewards on runs that nothing was chosen on, the best first."""
    judging, problems = "200", ("movielens", "covertype")
    newest = {tuple(list(row.values())[:5]): row for row in rows("arms/quality")}
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in newest.values():
        if row["seed"] == judging and row["problem"] in problems:
            who = f"{row['library']} `{re.sub(r' -l [0-9.]+', '', row['policy'])}`"
            found[who][row["problem"]].append(float(row["mean_reward"]))
    means = {who: sum(map(statistics.mean, its.values())) for who, its in found.items()}
    body = [
        [who, *(spread(found[who][problem]) for problem in problems)]
        for who in sorted(found, key=lambda who: -means[who])
    ]
    return markdown(["", *problems], body)


def coverage() -> str:
    """Return how often intervals cover the truth."""
    body = [
        [f"`{row['interval']}`, {row['weights']}", row["events"], f"{float(row['effective']):.0f}"]
        + [f"{float(row[estimator]):.0%}" for estimator in ("ips", "snips", "dr")]
        for row in rows("evaluation/coverage")
    ]
    return markdown(["interval", "events", "effective", "ips", "snips", "dr"], body)


def drift() -> str:
    """Return shares of the best arm after a switch, and regret with and without one."""
    shares: dict[tuple[str, int], list[float]] = defaultdict(list)
    found = rows("bandit/drift")
    for row in found:
        shares[row["policy"], int(row["from"]) // 1_000].append(float(row["share"]))
    blocks = (5, 9, 14)
    body = [
        [f"`{row['policy']}`"]
        + [f"{statistics.mean(shares[row['policy'], block]):.0%}" for block in blocks]
        + [f"{float(row[k]):,.0f} ± {float(row[f'{k}_half']):,.0f}" for k in ("switch", "steady")]
        for row in {row["policy"]: row for row in found}.values()
    ]
    head = [f"{block},000–{block + 1},000" for block in blocks]
    return markdown(["policy", *head, "regret", "regret without a switch"], body)


def delayed() -> str:
    """Return regrets for each kind of delay and lag."""
    found = rows("bandit/delayed")
    cells = {(row["policy"], row["delay"], row["lag"]): row for row in found}
    policies = list(dict.fromkeys(row["policy"] for row in found))
    delays = [
        key for key in dict.fromkeys((row["delay"], row["lag"]) for row in found) if key[1] != "1"
    ]
    body = [
        [f"{delay}, {int(lag):,}" if int(lag) else "none"]
        + [_regret(cells[policy, delay, lag], "regret_half") for policy in policies]
        for delay, lag in delays
    ]
    return markdown(["delay, rounds", *(f"`{policy}`" for policy in policies)], body)


def lag() -> str:
    """Return regrets of a process that is behind, and what that is at 500 decisions a second."""
    found = rows("bandit/delayed")
    policies = ("thompson", "giro:a=1", "ucb1")
    cells = {
        (row["policy"], int(row["lag"])): _regret(row, "regret_half")
        for row in found
        if row["delay"] in ("none", "fixed") and row["lag"] != "1"
    }
    lags = dict.fromkeys(n for _, n in sorted(cells, key=lambda cell: cell[1]))
    body = [
        [f"{n:,}" if n else "none", f"{n / 500:g} s" if n else ""]
        + [cells[policy, n] for policy in policies]
        for n in lags
    ]
    names = [f"`{policy}`" for policy in policies]
    return markdown(["decisions behind", "at 500 a second", *names], body)


def _regret(row: Row, margin: str) -> str:
    return f"{float(row['regret']):,.0f} ± {float(row[margin]):,.0f}"


def family(key: str, error: str, arms: str) -> str:
    """Return a number of each policy on each problem with this many arms."""
    found = [row for row in rows("family/finals") if row["problem"].endswith(f" {arms} arms")]
    digits = 2 if key == "over_limit" else 0

    def cell(row: Row) -> str:
        text = f"{float(row[key]):,.{digits}f}"
        return f"{text} ± {float(row[error]):,.{digits}f}" if error else text

    return crossed(found, cell, lambda problem: problem.rpartition(",")[0])


def family_costs(arms: str) -> str:
    """Return ns of a round of each policy, in short and in long runs."""
    kinds = ("bernoulli", "beta, v = 4", "discrete")
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in rows("family/costs"):
        kind, _, size = row["problem"].rpartition(", ")
        if size == f"{arms} arms":
            cells = [f"{float(row[f'ns_{rounds}']):,.0f}" for rounds in (10_000, 100_000)]
            found[row["policy"]][kind] = cells
    head = ["", *(f"{kind}, {n} rounds" for kind in kinds for n in ("10,000", "100,000"))]
    body = [
        [f"`{short(policy)}`", *(cell for kind in kinds for cell in cells.get(kind, ["", ""]))]
        for policy, cells in found.items()
    ]
    return markdown(head, body)


def family_peers() -> str:
    """Return the regret of public code beside that of giro, and p values."""
    body = []
    for row in rows("family/peers"):
        regrets = [
            f"{float(row[name]):.1f} ± {float(row[f'{name}_se']):.1f}"
            for name in ("regret", "our_regret", "wrong_regret")
        ]
        body.append(
            [
                row["code"].rpartition("/")[2].partition("@")[0],
                _public(row),
                f"`{short(row['ours'])}`",
                row["problem"].partition(":")[0],
                *regrets[:2],
                f"{float(row['p']):.2g}",
                f"{row['wrong']}: {regrets[2]}",
                f"{float(row['wrong_p']):.1g}",
            ]
        )
    head = ["code", "its", "giro's", "problem", "its regret", "giro's regret", "p"]
    return markdown([*head, "its, wrong on purpose", "p of that"], body, words=4)


def family_speed() -> str:
    """Return µs of a round of public code and of giro, and how many times that is."""
    body = []
    for row in rows("family/speed"):
        cells = []
        for rounds in (1_000, 10_000):
            theirs, ours = float(row[f"us_{rounds}"]), float(row[f"our_us_{rounds}"])
            cells += [f"{theirs:.3g}", f"{ours:.2g}", f"{theirs / ours:,.0f}x"]
        names = [_public(row), f"`{short(row['ours'])}`", row["problem"].partition(":")[0]]
        body.append([*names, *cells])
    head = ["its", "giro's", "rewards", "its µs, 1,000 rounds", "giro's", "quicker"]
    return markdown([*head, "its µs, 10,000 rounds", "giro's", "quicker"], body, words=3)


def _public(row: Row) -> str:
    """Return the name of public code, with what was changed, or another seed."""
    name, _, change = row["theirs"].partition(", ")
    return ", ".join(
        [f"`{name}`", *([change] if change else []), *["fresh seed"] * int(row["seed"])]
    )


def arms_exploring() -> str:
    """Return mean rewards where exploring pays, each kind of policy with its tuned width.

    Behind the mean is how much less that is than the best, run by run.
    """
    tuning, judging, problems = "100", "200", ("outlier", "hits")
    found: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in rows("arms/quality"):
        who = f"{row['library']} {row['policy']}"
        found[row["problem"], row["seed"], who][row["run"]] = float(row["mean_reward"])
    chosen: dict[tuple[str, str], str] = {}  # kind and problem
    for problem, seed, who in list(found):
        kind = kind_of(*who.split(" ", 1))
        if seed == tuning and len(found[problem, judging, who]) == 5:
            best = chosen.setdefault((kind, problem), who)
            rewards = (
                statistics.mean(found[problem, tuning, each].values()) for each in (who, best)
            )
            if next(rewards) > next(rewards):
                chosen[kind, problem] = who
    judged = {key: found[key[1], judging, who] for key, who in chosen.items() if key[1] in problems}
    means = {key: statistics.mean(rewards.values()) for key, rewards in judged.items()}
    most = {
        p: judged[max((k for k in means if k[1] == p), key=means.__getitem__)] for p in problems
    }

    def cell(kind: str, problem: str) -> str:
        key = kind, problem
        if key not in judged:
            return "–"
        less = [judged[key][run] - reward for run, reward in most[problem].items()]
        behind = f", {spread(less)}" if any(less) else ""
        width = width_of(chosen[key])
        return f"{means[key]:.4f}{behind}" + (f" `{width}`" if width else "")

    kinds = dict.fromkeys(kind for kind, _ in judged)
    order = sorted(kinds, key=lambda kind: -sum(means.get((kind, p), 0.0) for p in problems))
    return markdown(["", *problems], [[kind, *(cell(kind, p) for p in problems)] for kind in order])


def kind_of(library: str, policy: str) -> str:
    """Return what a policy is called apart from its width of exploring.

    >>> kind_of("giro", "squarecb:gamma=100,model=[hashed:bits=18]")
    'giro `squarecb:model=hashed`'
    >>> kind_of("VW", "--squarecb --gamma_scale 10 -q UF -l 2")
    'VW `--squarecb`'
    """
    if library == "VW":
        kind = policy.split(maxsplit=1)[0]
        return f"VW `{'--epsilon 0' if policy.startswith('--epsilon 0 ') else kind}`"
    name = policy.partition(":")[0]
    offset = ",offset=0" if "offset=0" in policy else ""
    model = f":model=hashed{offset}" if "hashed" in policy else ""
    return f"giro `{name}{model}`"


def width_of(who: str) -> str:
    """Return the parameters that were chosen, shorter.

    >>> width_of("giro squarecb:gamma=100,model=[hashed:bits=18]")
    'gamma=100'
    >>> width_of("VW --squarecb --gamma_scale 10 -q UF -l 2")
    '--gamma_scale 10 -l 2'
    """
    library, _, text = who.partition(" ")
    if library == "VW":
        _, *others = text.replace(" -q UF", "").split()
        return " ".join(others)
    found = re.findall(r"(?:scale|spread|gamma|epsilon|a)=[0-9.]+", text)
    return ",".join(found)


def wheel() -> str:
    """Return published shares of the regret of uniform, and those found here."""
    body = [
        [
            f"`{short(row['problem'])}`",
            f"`{row['policy'].partition(':')[0]}`",
            f"{int(row['rounds']):,}",
            row["runs"],
            f"{float(row['share']):.2f} ± {float(row['share_se']):.2f}",
            f"{float(row['published']):.2f}",
            f"{float(row['more']):+.2f}",
        ]
        for row in rows("wheel/finals")
    ]
    head = ["problem", "policy", "rounds", "runs", "% of uniform", "published", "difference"]
    return markdown(head, body, words=2)


def wheel_beside() -> str:
    """Return shares of the regret of uniform on each wheel, and where there is one run."""

    def cell(row: Row) -> str:
        error = f" ± {float(row['share_se']):.2f}" if row["share_se"] else " (1 run)"
        return f"{float(row['share']):.2f}{error}"

    found = [row for row in rows("wheel/finals") if row["problem"].startswith("wheel")]
    return crossed([*found, *rows("wheel/beside")], cell, lambda problem: f"δ = {problem[12:]}")


def drift_in_context() -> str:
    """Return regret with contexts, with and without forgetting, in each world."""
    found = {
        (row["policy"], row["world"], row["forgets"]): (
            f"{float(row['regret']):,.0f} ± {float(row['half']):,.0f}"
        )
        for row in rows("bandit/drift-contexts")
    }
    policies = list(dict.fromkeys(policy for policy, _, _ in found))
    cells = [(world, forgets) for world in ("switch", "drift", "steady") for forgets in "01"]
    body = [[f"`{policy}`", *(found[policy, *cell] for cell in cells)] for policy in policies]
    names = {"switch": "a switch", "drift": "drift", "steady": "no change"}
    head = [names[world] + ", forgetting" * (forgets == "1") for world, forgets in cells]
    return markdown(["policy", *head], body)


def drift_by_half_life() -> str:
    """Return regret with several half-lives in each world."""
    found = rows("bandit/drift-half-lives")
    cells = {
        (row["half_life"], row["world"]): f"{float(row['regret']):,.0f} ± {float(row['half']):,.0f}"
        for row in found
    }
    lives = list(dict.fromkeys(row["half_life"] for row in found))
    worlds = ("switch", "drift", "steady")
    body = [[f"{int(life):,}", *(cells[life, world] for world in worlds)] for life in lives]
    return markdown(["half-life", "a switch", "drift", "no change"], body)


STUDIES = ("mab", "linear-regret", "settings", "contextual", "offline")


def dashboard() -> str:
    """Return how long the pages of the dashboard take, a column for each log."""
    found = content("bandit/dashboard")["pages"]
    head = ["page", *(f"{row['store']}, {row['events']:,} events" for row in found)]
    names = [name for name in found[0] if f"{name} max" in found[0]]
    body = [[name, *(f"{row[name]:.0f}" for row in found)] for name in names]
    opening = ["opening the log, seconds", *(f"{row['open_s']:.1f}" for row in found)]
    return markdown(head, [*body, opening])


def service(file: str, part: str, heads: dict[str, str], *, words: int = 1) -> str:
    """Return a part of what was measured of the service; a row may lack columns."""
    found = content(f"service/{file}")[part]
    return picked([dict.fromkeys(heads) | row for row in found], heads, words=words)


def fuzz() -> str:
    """Return how many requests got which answers, and the memory meanwhile."""
    found = content("service/fuzz")
    answers = [[f"answer {status}", f"{n:,}"] for status, n in found["answers"].items()]
    samples = found.get("requests, MB, open bandits") or found["memory_MB"]  # of a run before it
    memory, rise = {n: mb for n, mb, *_ in samples}, found.get("rise_in_second_half")
    half = min(memory, key=lambda n: abs(n - found["requests"] / 2))
    rest = [
        ["failures", f"{found['failures']}"],
        ["slowest answer of a probe, ms", f"{found['slowest_probe_ms']:,}"],
        [f"memory after {half:,} requests, MB", f"{memory[half]:,}"],
        ["memory at the end, MB", f"{list(memory.values())[-1]:,}"],
        *([] if rise is None else [["a line through the second half rises by", f"{rise:.1%}"]]),
    ]
    return markdown(["", f"{found['requests']:,} requests"], [*answers, *rest])


def gpu() -> str:
    """Return how long a GPU plays a hundred runs, and how near to its limit it is."""

    def cell(row: Row) -> str:
        seconds = f"{float(row['seconds']):.0f} s" if float(row["seconds"]) >= 1 else "under 1 s"
        if not row["limit"]:
            return seconds
        speed, limit = float(row["entries_per_second"]) / 1e9, float(row["limit"]) / 1e9
        return f"{seconds}; {speed:.1f} of {limit:,.0f} ({100 * float(row['share']):.1f} %)"

    found = [row | {"problem": row["data"]} for row in rows("contextual/speed")]
    total = sum(float(row["seconds"]) for row in found)
    return f"{crossed(found, cell, str.capitalize)}\nTogether {total / 60:.0f} minutes.\n"


def sgd() -> str:
    """Return how linear Giro and ε-greedy compare by stochastic gradient."""
    body = [
        [
            row["data"].capitalize(),
            row["scale"],
            f"{int(row['rounds']):,}",
            f"{float(row['gain']):.4f} ± {float(row['se']):.4f}",
            f"{float(row['p_value']):.1g}",
            "yes" if float(row["within_low"]) > 0 else "no" if _is_apart(row) else "undecided",
        ]
        for row in rows("settings/sgd")
    ]
    head = ["", "contexts", "rounds", "Giro's gain", "p value", "within 0.02"]
    return markdown(head, body, words=2)


def _is_apart(row: Row) -> bool:
    return float(row["within_high"]) < 0


TABLES: dict[str, Callable[[], str]] = {
    **{f"{study} command": partial(command, f"{study}/claims") for study in STUDIES},
    "field command": partial(command, "bakeoff/field"),
    "mab regret": lambda: finals("mab"),
    "mab claims": lambda: claims("mab"),
    "mab claim 2": lambda: comparisons("mab", "2"),
    "mab claim 5": lambda: comparisons("mab", "5"),
    "linear-regret regret": lambda: finals("linear-regret"),
    "linear-regret claims": lambda: claims("linear-regret"),
    "settings": by_setting,
    "sgd": sgd,
    "gpu": gpu,
    "contextual reward": lambda: rewards("contextual"),
    "contextual claims": lambda: claims("contextual"),
    "contextual models": lambda: comparisons("contextual", "4", "5", "6"),
    "offline": offline,
    "offline claims": lambda: claims("offline"),
    "field": field,
    "statements": statements,
    "bake-off ranking": ranking,
    "bake-off tuning": tuning,
    "bake-off ensemble": ensemble,
    "bake-off, tuning half": on_tuning_half,
    "data sets, tuning": lambda: half("tuning"),
    "data sets, judging": lambda: half("judging"),
    "data sets, small": lambda: data_sets(lambda row: int(row["rows"]) < SMALL),
    "data sets, paper": lambda: half("paper"),
    "stores": lambda: stores(
        "throughput",
        {"store": "store", "from": "from", "rounds_per_second": "rounds a second"}
        | {"plain_inserts": "plain inserts", "ratio": "ratio"},
    ),
    "appends": lambda: stores(
        "appends",
        {"what": "one call", "client_us": "client, µs", "server_us": "server, µs"}
        | {"least_client_us": "least tenth: client", "least_server_us": "server"},
    ),
    "bytes": lambda: stores(
        "bytes",
        {"store": "store", "policy": "policy", "arms": "arms"}
        | {"bytes_per_round": "bytes a round", "bytes_of_a_decision": "of these a decision's data"},
    ),
    "tails": lambda: stores(
        "tails",
        {"store": "store", "policy": "policy", "processes": "processes"}
        | {"rounds_per_second": "rounds a second"}
        | {"decide_p50_ms": "decide p50, ms", "decide_p99_ms": "p99", "decide_max_ms": "longest"}
        | {"reward_p50_ms": "reward p50, ms", "reward_p99_ms": "p99", "reward_max_ms": "longest"},
    ),
    "http": lambda: stores(
        "http",
        {"store": "store", "policy": "policy", "workers": "workers"}
        | {"requests_per_second": "requests a second"}
        | {"decide_p50_ms": "decide p50, ms", "decide_p99_ms": "p99"}
        | {"reward_p50_ms": "reward p50, ms", "reward_p99_ms": "p99"},
    ),
    "idle": lambda: stores(
        "idle",
        {"store": "store", "bandits": "bandits", "percent_of_a_core": "% of a core"}
        | {"threads": "threads", "decide_p50_ms": "decide p50, ms", "decide_p99_ms": "p99"},
    ),
    "large logs": lambda: stores(
        "large log",
        {"store": "store", "events": "events", "open_ms": "open, ms"}
        | {"decide_p50_ms": "decide p50, ms", "decide_p99_ms": "p99", "decide_max_ms": "longest"}
        | {"reward_p50_ms": "reward p50, ms", "reward_p99_ms": "p99", "reward_max_ms": "longest"}
        | {"most_memory_MB": "memory, MB"},
    ),
    "costs": lambda: picked(
        content("bandit/costs")["calls"],
        {"what": "µs", "decide_p50": "decide", "decide_p99": "p99", "longest_decide": "longest"}
        | {"reward_p50": "reward", "reward_p99": "p99", "longest_reward": "longest"}
        | {"both_p50": "both", "both_p99": "p99", "first_p50": "at first", "last_p50": "at last"}
        | {"river_p50": "river's `UCB`", "rounds": "rounds", "bytes_per_round": "bytes a round"},
    ),
    "steady": lambda: picked(
        content("bandit/costs")["steady"],
        {"what": "ms of processor time", "rounds": "rounds"}
        | {"decide_p99_ms": "decide p99", "longest_decide_ms": "longest"}
        | {"reward_p99_ms": "reward p99", "longest_reward_ms": "longest", "megabytes": "MB"},
    ),
    "many": lambda: picked(
        content("bandit/costs")["many"],
        {"what": "µs a decision", "store": "where", "contexts": "at once", "alone_us": "alone"}
        | {"together_us": "together", "share": "share"},
        words=2,
    ),
    "ranks": lambda: picked(
        content("bandit/costs")["ranks"],
        {"what": "ms of processor time", "arms": "arms", "one_ms": "one decision"}
        | {"slots": "slots", "ten_ms": "ranking", "times": "times one"},
    ),
    "beside": lambda: picked(
        content("bandit/costs")["beside"],
        {"store": "ms", "reward_p50_ms": "a reward, with a fit", "decisions": "decisions meanwhile"}
        | {"decide_p50_ms": "each", "decide_p99_ms": "p99"},
    ),
    "forks": lambda: picked(
        content("bandit/costs")["forks"],
        {"store": "where", "forks": "children", "stuck_or_failed": "stuck or failed"}
        | {"longest_child_s": "longest, s"},
    ),
    "pauses": lambda: picked(
        content("bandit/costs")["pauses"],
        {"what": "", "ms": "ms", "others_ms": "longest decision meanwhile, ms"},
    ),
    "service saturated": lambda: service(
        "load",
        "saturated",
        {"store": "store", "workers": "workers", "policy": "policy", "requests": "requests"}
        | {"per_second": "a second", "server_us": "processor time, µs", "p50_ms": "p50, ms"}
        | {"p99_ms": "p99", "plain_per_second": "plain endpoint", "ratio": "ratio"}
        | {"others": "load average"},
        words=4,
    ),
    "service steady": lambda: service(
        "load",
        "steady",
        {"store": "store", "workers": "workers", "seconds": "seconds"}
        | {"decide_p50_ms": "decide p50, ms", "decide_p99_ms": "p99", "decide_max_ms": "longest"}
        | {"reward_p50_ms": "reward p50, ms", "reward_p99_ms": "p99", "reward_max_ms": "longest"}
        | {"memory_first_MB": "memory at first, MB", "memory_last_MB": "at last"}
        | {"others": "load average"},
    ),
    "service kills": lambda: service(
        "kills",
        "rows",
        {"store": "store", "workers": "workers", "kills of all": "kills of all processes"}
        | {"kills of a worker": "of a worker", "decisions": "decisions", "rewards": "rewards"}
        | {
            "lost": "lost or wrong",
            "median ready ms": "start to ready, ms",
            "longest ready ms": "longest",
        },
    ),
    "service restarts": lambda: service(
        "restarts",
        "rows",
        {"ended": "the last one ended", "events": "events", "starts": "starts"}
        | {"ready_s": "ready, s", "longest_ready_s": "longest", "decided_s": "decided, s"}
        | {"cpu_s": "of these processor time, s"},
    ),
    "service fuzz": fuzz,
    "service learning": lambda: service(
        "truth",
        "learning",
        {"door": "door", "seed": "seed", "rounds": "rounds", "right": "right in the last 500"}
        | {"chance": "chance", "p_by_chance": "p by chance"},
    ),
    "service propensities": lambda: service(
        "truth",
        "propensities",
        {"store": "store", "bandit": "bandit", "workers": "workers", "decisions": "decisions"}
        | {"least": "least probability", "not_as_logged": "not as logged"}
        | {"chi_square": "chi-square", "p": "p"},
        words=2,
    ),
    "service ips": lambda: service(
        "truth",
        "ips",
        {"store": "store", "bandit": "bandit", "events": "decisions", "arm": "arm"}
        | {"truth": "true mean", "value": "IPS", "low": "from", "high": "to"},
        words=2,
    ),
    "first use": lambda: picked(
        content("bandit/costs")["first_use"],
        {"what": "nothing compiled before", "import_s": "import giro, s"}
        | {"decide_s": "first decision, s", "reward_s": "first reward, s"},
    ),
    "arms quality": arms_quality,
    "drift": drift,
    "delayed": delayed,
    "family command": partial(command, "family/finals"),
    **{
        f"family {what}, {arms} arms": partial(family, key, error, arms)
        for arms in ("10", "100")
        for what, key, error in (
            ("slope", "over_limit", "over_limit_se"),
            ("early regret", "early_regret", "early_regret_se"),
            ("regret", "regret", "regret_se"),
            ("runs", "runs", ""),
        )
    },
    "family costs, 10 arms": lambda: family_costs("10"),
    "family costs, 100 arms": lambda: family_costs("100"),
    "family peers": family_peers,
    "family speed": family_speed,
    "arms exploring": arms_exploring,
    "wheel": wheel,
    "wheel beside": wheel_beside,
    "wheel command": partial(command, "wheel/finals"),
    "drift-contexts": drift_in_context,
    "dashboard": dashboard,
    "lag": lag,
    "drift-half-lives": drift_by_half_life,
    "coverage": coverage,
}


def current(text: str) -> str:
    """Return a page with its tables as the results have them now."""
    return BETWEEN.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


def main() -> None:
    """Write all tables."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        if (new := current(text)) != text:
            page.write_text(new, "utf-8")


if __name__ == "__main__":
    main()
