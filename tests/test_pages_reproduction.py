"""docs/reproduction.md says what the committed results say."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from tables import DOCS, rows  # noqa: E402  # a script

TEXT = (DOCS / "reproduction.md").read_text("utf-8")
MODELS = ("linear", "logistic", "network")


def test_the_verdicts_are_those_that_the_words_around_the_tables_tell() -> None:
    mab = {row["number"]: row["verdict"] for row in rows("mab/claims")}
    assert [mab[number] for number in ("1", "2", "3", "4", "6")] == ["holds"] * 5
    assert [mab[number] for number in ("2, c = 0", "5", "5, c = 0")] == ["fails"] * 3
    thompson = [r for r in rows("mab/comparisons") if r["comparison"].startswith("thompson")]
    assert {row["verdict"] for row in thompson if row["number"] == "5"} == {"holds"}
    linear = {row["number"]: row["verdict"] for row in rows("linear-regret/claims")}
    for k in (1, 2, 3):
        assert linear[f"k = {k}"] == linear[f"k = {k}, exact"] == "holds"
    assert (linear["linear"], linear["less"]) == ("undecided", "fails")


def test_the_contextual_verdicts_are_those_that_the_words_tell() -> None:
    found = {row["number"]: row["verdict"] for row in rows("contextual/claims")}
    assert [found.pop(number) for number in ("1, width 1", *"234678")] == ["fails"] * 7
    assert found == {"1": "holds", "5": "holds"}
    offline = {row["number"]: row["verdict"] for row in rows("offline/claims")}
    assert offline == {"6, 1 pass": "holds", "6, 10 passes": "fails", "6, 100 passes": "fails"}


def test_the_contextual_estimates_are_those_that_the_words_tell() -> None:
    def earned(policy: str, data: str) -> float:
        return reward[policy, f"classification:data={data},scale=column"]

    reward = {(r["policy"], r["problem"]): float(r["reward"]) for r in rows("contextual/finals")}
    giro, greedy = "contextual-giro:a=1,model={}", "epsilon-greedy:share=0.01,model={}"
    for data in ("statlog", "covertype", "adult"):
        learned = (make.format(model) for make in (giro, greedy) for model in MODELS)
        assert earned("lin-ucb", data) < min(earned(policy, data) for policy in learned)
        for model in MODELS[:2]:
            assert earned("lin-ucb:scale=1", data) > earned(giro.format(model), data)
        above = earned(giro.format("linear"), data)
        assert earned("poisson-bootstrap:model=linear,replicas=20", data) > above
        assert earned("lin-ts", data) < earned("lin-ucb", data) < earned("ucb-glm", data)
    for make, place in ((giro, -1), (greedy, 0)):
        ranked = sorted(MODELS, key=lambda model: earned(make.format(model), "adult"))
        assert ranked[place] == "network"


def test_the_comparisons_by_stochastic_gradient_are_those_that_the_words_tell() -> None:
    longer = [row for row in rows("settings/sgd") if int(row["rounds"]) > 10_000]
    assert len(longer) == 6
    for row in longer:
        assert row["runs"] == "20" and row["rounds"] == "50000"
        if row["data"] == "adult":
            assert float(row["gain"]) < 0 and float(row["p_value"]) < 0.001
        elif (row["data"], row["scale"]) == ("statlog", "unit"):  # which is undecided
            assert float(row["within_low"]) < 0 < float(row["within_high"])
        else:
            assert float(row["within_low"]) > 0


def test_every_folder_of_results_says_how_it_was_made() -> None:
    size = r"--rounds \d+ --runs \d+ --seed \d+"
    commands = {
        "mab": size,
        "linear-regret": size,
        "contextual": rf"--scale paper {size} --contexts column --fit exact",
        "settings": size,
        "offline": r"--contexts column --splits \d+ --rows \d+ --seed \d+",
    }
    for name, options in commands.items():
        for table in (ROOT / "results" / name).glob("*.csv"):
            made_by = table.read_text().splitlines()[0]
            by_study = rf"giro reproduce {name} {options} \((runs of )?giro "
            assert re.match(rf"# ({by_study}|python scripts/(sgd_claims|cuda_speed)\.py )", made_by)


def test_links_and_pictures_exist() -> None:
    for path in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (DOCS / path).exists(), path
