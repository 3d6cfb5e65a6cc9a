"""docs/reproduction.md says what the committed results say."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from reproduction_tables import DOCUMENT, current, rows  # noqa: E402

TEXT = DOCUMENT.read_text()


def test_the_tables_are_current() -> None:
    assert current(TEXT) == TEXT, "run `make evidence`"


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


def test_every_folder_of_results_says_how_it_was_made() -> None:
    for name in ("mab", "linear-regret"):
        made_by = (ROOT / "results" / name / "made-by.txt").read_text()
        assert re.match(rf"giro reproduce {name} --rounds \d+ --runs \d+ --seed \d+\n", made_by)


def test_links_and_pictures_exist() -> None:
    for path in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (DOCUMENT.parent / path).exists(), path
