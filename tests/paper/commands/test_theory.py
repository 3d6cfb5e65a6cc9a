"""`giro theory`: tables, records, figures, findings."""

import json
import math
import re
from pathlib import Path

import pytest
from cli.conftest import Giro

from giro import simulate
from giro.paper.theory.bound import giro_bound, log_c
from giro.paper.theory.exact import exact_bootstrap_regret, exact_giro_regret
from giro.paper.theory.general_bound import general_bound
from giro.paper.theory.optimism import log_inverse_optimism

SMALL: dict[str, list[str | int]] = {
    "bound": ["--rounds", 100],
    "general-bound": ["--rounds", 60, "--runs", 4, "--seed", 3],
    "optimism": ["--a", "1/3,1", "--n", "1,3"],
    "moments": ["--s", 3, "--most-pulls", 6],
    "lemmas": ["--n", 4],
    "exact": ["--rounds", 4, "--runs", 50, "--seed", 3],
}


@pytest.mark.parametrize("command", SMALL)
def test_tables_are_aligned_and_below_the_command_that_repeats_them(
    giro: Giro, command: str
) -> None:
    done = giro("theory", command, *SMALL[command])
    assert (done.status, done.error) == (0, "")
    first, *parts = done.out.split("\n\n")
    assert first.startswith(f"giro theory {command} --")
    again = giro(*first.split("   (")[0].split()[1:])
    assert again.out == done.out
    for part in parts:
        for line in part.splitlines():
            assert line == line.rstrip()
            assert not re.search("[│─┃━]", line)
    assert re.match(r"statement +verdict +figures\n", parts[-1])


@pytest.mark.parametrize("command", SMALL)
def test_records_hold_every_table_and_statement(giro: Giro, command: str) -> None:
    done = giro("theory", command, *SMALL[command], "--json")
    records = json.loads(done.out, parse_constant=pytest.fail)
    assert records["command"].startswith(f"giro theory {command}")
    assert {s["verdict"] for s in records["statements"]} <= {"holds", "fails", "undecided"}
    tables = [value for key, value in records.items() if isinstance(value, list)]
    assert len(tables) > 1
    assert all(isinstance(record, dict) for table in tables for record in table)


@pytest.mark.parametrize(
    ("command", "ending"), [*((command, "svg") for command in SMALL), ("bound", "png")]
)
def test_a_figure_is_drawn_and_says_what_made_it(
    giro: Giro, tmp_path: Path, command: str, ending: str
) -> None:
    path = tmp_path / "new" / f"figure.{ending}"
    done = giro("theory", command, *SMALL[command], "--plot", path)
    assert (done.status, done.error) == (0, f"wrote {path}\n")
    assert f"giro theory {command}".encode() in path.read_bytes()


def test_the_terms_of_theorem_2(giro: Giro) -> None:
    words = ["theory", "bound", "--means", "0.9,0.5,0.8", "--rounds", 500, "--a", 2]
    records = giro(*words, "--json").records
    expected = giro_bound([0.9, 0.5, 0.8], 500, 2)
    *arms, total = records["arms"]
    assert [(arm["log_a"], arm["b"]) for arm in arms] == [(x.log_a, x.b) for x in expected.arms]
    assert total["log_regret"] == expected.log_regret
    assert records["constants"][2]["log"] == log_c(2)


def test_a_bound_beyond_floats_is_shown(giro: Giro) -> None:
    done = giro("theory", "bound", "--a", 0.7072)
    assert done.status == 0
    log = giro_bound([0.7, 0.4], 10_000, 0.7072).log_regret / math.log(10)
    assert log > 308
    assert f"e+{math.floor(log)}" in done.out


def test_theorem_2_does_not_increase_with_a(giro: Giro) -> None:
    verdicts = _verdicts(giro("theory", "bound", "--json").records)
    assert verdicts["Section 5.3: the bound increases with a"] == "fails"


def test_theorem_1_stands_beside_the_simulation(giro: Giro) -> None:
    records = giro("theory", "general-bound", *SMALL["general-bound"], "--json").records
    last = records["against_rounds"][-1]
    trace = simulate("giro:a=1", "bernoulli:means=[0.7,0.4]", rounds=60, runs=4, seed=3)
    assert last["rounds"] == 60
    assert last["regret"] == pytest.approx(trace.regret[:, -1].mean())
    assert last["theorem_1"] == general_bound([0.7, 0.4], 60, 1).regret
    assert last["log_theorem_2"] == giro_bound([0.7, 0.4], 60, 1).log_regret
    assert records["against_a"][0]["log_theorem_2"] is None  # a = 0.1


def test_theorem_1_needs_no_theorem_2(giro: Giro, tmp_path: Path) -> None:
    words = ["--a", "1/3", "--rounds", 20, "--runs", 1, "--plot", tmp_path / "x.png"]
    done = giro("theory", "general-bound", *words)
    assert done.status == 0
    assert "--a 1/3" in done.out


def test_w_is_shown_for_the_means_asked_for(giro: Giro) -> None:
    records = giro("theory", "optimism", "--a", 1, "--n", 2, "--p", "0.3,1/2", "--json").records
    assert [row["p"] for row in records["grid"]] == [0.3, 0.5]
    assert records["grid"][1]["log_w"] == log_inverse_optimism(2, 0.5, 1)
    assert records["grid"][1]["holds"]


def test_the_largest_w_over_all_means(giro: Giro) -> None:
    """After two pulls with a = 1, just above p = 1/2: far below c."""
    records = giro("theory", "optimism", "--a", 1, "--n", "1,2,3", "--json").records
    (row,) = records["constants"]
    assert (row["n"], row["p"]) == (2, 0.5)
    assert math.exp(row["log_w"]) == pytest.approx(4.3186, abs=1e-4)
    assert row["log_looseness"] > 26


def test_equation_7_fails_and_the_moments_do_not(giro: Giro) -> None:
    verdicts = _verdicts(giro("theory", "moments", *SMALL["moments"], "--json").records)
    assert verdicts["Equation 7 for every unfavourable history"] == "fails"
    assert verdicts["Section 4.2: means and variances of history and sample"] == "holds"


def test_violations_of_lemmas_are_findings_and_no_errors(giro: Giro) -> None:
    done = giro("theory", "lemmas", "--n", 4, "--json")
    assert done.status == 0
    verdicts = _verdicts(done.records)
    assert verdicts == {
        "Lemma 2": "fails",
        "Lemma 2, p > 0": "holds",
        "Lemma 3": "holds",
        "Lemma 4": "fails",
        "Lemma 4, 0 < x < n": "holds",
    }
    by_claim = {record["claim"]: record for record in done.records["lemmas"]}
    assert by_claim["Lemma 4"]["violations"] == 2 * 4 * 19  # x = 0 and x = n
    assert all("p = 0," in v["where"] for v in done.records["violations"][:3])
    proofs = {record["claim"]: record["violations"] for record in done.records["proofs"]}
    assert [claim for claim, count in proofs.items() if count] == ["Theorem 2, counted pulls (+ 2)"]


def test_exact_regret_of_both_policies(giro: Giro) -> None:
    def regrets(*words: object) -> list[float]:
        records = giro("theory", "exact", "--rounds", 4, *words, "--json").records["regret"]
        return [record["regret"] for record in records]

    means = [0.7, 0.4]
    assert regrets() == exact_giro_regret(means, 4).tolist()
    assert regrets("--policy", "giro:a=1/3") == exact_giro_regret(means, 4, 1 / 3).tolist()
    assert regrets("--ties", "fixed") == exact_giro_regret(means, 4, ties="fixed").tolist()
    bootstrap = ["--policy", "bootstrap:pulls=2"]
    assert regrets(*bootstrap) == exact_bootstrap_regret(means, 4, 2).tolist()
    anew = exact_bootstrap_regret(means, 4, 2, ties="random").tolist()
    assert regrets(*bootstrap, "--ties", "random") == anew


def test_exact_regret_stands_beside_simulation_and_lemma_1(giro: Giro) -> None:
    words = ["--policy", "bootstrap", "--rounds", 5, "--runs", 200]
    records = giro("theory", "exact", *words, "--json").records
    assert set(_verdicts(records).values()) == {"holds"}
    assert records["regret"][-1]["bound"] == pytest.approx(0.5 * 0.3 * 0.3 * 4)
    assert abs(records["regret"][-1]["deviation"]) < 5


def test_everything_goes_into_one_folder(giro: Giro, tmp_path: Path) -> None:
    words = ["--rounds", 30, "--n", 3, "--runs", 2]
    done = giro("theory", "all", "--out", tmp_path, *words)
    files = {path.name for path in tmp_path.iterdir()}
    assert done.status == 0
    assert done.error == f"wrote {len(files)} files to {tmp_path}\n"
    for name in ("bound", "general-bound", "optimism", "moments", "lemmas", "exact-giro"):
        assert f"{name}.png" in files
    tables = (tmp_path / "tables.txt").read_text()
    assert len(re.findall(r"^giro theory [a-z-]+ --.* \(giro ", tables, re.MULTILINE)) == 7
    statements = (tmp_path / "statements.csv").read_text().splitlines()
    assert statements[0].startswith("# giro theory all ")
    assert len(statements) == 2 + len(done.out.splitlines()) - 1


def test_every_theory_command_explains_itself_with_examples(giro: Giro) -> None:
    assert giro("theory").out == giro("theory", "--help").out
    for command in [*SMALL, "all"]:
        done = giro("theory", command, "--help")
        assert done.status == 0
        assert f"    giro theory {command}" in done.out


def _verdicts(records: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {record["claim"]: record["verdict"] for record in records["statements"]}
