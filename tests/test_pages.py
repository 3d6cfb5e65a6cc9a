"""The pages of docs/ do what they show."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from giro import Policy, plots, simulate
from giro.model import Model

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import explained_figures  # noqa: E402  # a script, not a package
import pages  # noqa: E402
import policy_catalogue  # noqa: E402

WITH_CODE = [page for page in pages.pages() if pages.BLOCK.search(page.read_text("utf-8"))]
NEAR = 0.004  # of black to white, on average: other versions of a font, not other curves


def are_alike(first: Path, second: Path) -> bool:
    one, other = imread(first), imread(second)
    return one.shape == other.shape and float(np.abs(one - other).mean()) < NEAR


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_and_draws_what_is_shown(page: Path, tmp_path: Path) -> None:
    for ran in pages.run_page(page, tmp_path):
        if ran.printed or ran.shown:
            assert ran.shown is not None, f"the page does not show what this prints:\n{ran.code}"
            assert pages.is_shown(ran), f"run `make docs`: {ran.code}\nprints\n{ran.printed}"
    for shown, made in pages.pictures_of(page, tmp_path):
        assert are_alike(shown, made), f"run `make docs`: {shown.name} has changed"


def test_pages_with_code_are_found_and_the_tutorial_ends_with_a_picture() -> None:
    assert {"index", "tutorial", "explained", "own-model", "new-arms"} <= {
        p.stem for p in WITH_CODE
    }
    tutorial = (pages.DOCS / "tutorial.md").read_text("utf-8")
    *_, last = pages.BLOCK.finditer(tutorial)
    assert "plots.save(" in last["code"]
    assert tutorial[last.end() :].strip().startswith("![")


def test_the_first_page_says_how_to_install() -> None:
    home = (pages.DOCS / "index.md").read_text("utf-8")
    assert "pip install ." in home and "(usage.md#what-to-install)" in home
    assert "\n## What to install\n" in (pages.DOCS / "usage.md").read_text("utf-8")


def test_an_output_that_is_not_printed_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(2)\n```\n\n```text\n3\n```\n")
    (ran,) = pages.run_page(page, tmp_path)
    assert (ran.shown, ran.printed) == ("3\n", "2\n")
    assert not pages.is_shown(ran)


def test_a_picture_of_other_runs_is_noticed(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        policy = simulate("ucb1", "bernoulli", rounds=300, runs=5, seed=seed)
        plots.save(plots.regret_figure([policy]), tmp_path / f"{name}.png")
    assert are_alike(tmp_path / "a.png", tmp_path / "b.png")
    assert not are_alike(tmp_path / "a.png", tmp_path / "c.png")


def test_the_figures_of_giro_explained_are_what_the_script_draws(tmp_path: Path) -> None:
    explained_figures.draw(tmp_path)
    page = (pages.DOCS / "explained.md").read_text("utf-8")
    assert re.findall(r"\(pictures/(.*?)\.png\)", page) == list(explained_figures.FIGURES)
    for made in sorted(tmp_path.iterdir()):
        assert are_alike(pages.PICTURES / made.name, made), "run `make docs`"


def test_no_picture_is_left_over() -> None:
    text = "".join(page.read_text("utf-8") for page in pages.pages())
    for picture in pages.PICTURES.iterdir():
        assert f"pictures/{picture.name})" in text


def test_the_catalogue_is_what_the_code_says() -> None:
    """A new policy is one file: it need not be listed before the next `make docs`."""
    page = policy_catalogue.PAGE.read_text("utf-8")
    assert page == policy_catalogue.catalogue(listed=page), "run `make docs`"
    assert "### giro-ensemble\n" in page


def test_costs_are_those_of_policies_and_models_that_are_there() -> None:
    ours = {name for name, cls in Policy.known().items() if cls.__module__.startswith("giro.")}
    assert set(policy_catalogue.POLICY_COSTS) <= ours, "a cost of a policy that is not there"
    assert set(policy_catalogue.MODEL_COSTS) <= set(Model.known())


def test_the_catalogue_knows_who_looks_at_contexts_and_at_features_of_arms() -> None:
    text = policy_catalogue.catalogue()
    assert "| [`giro`](#giro) |  |  | exact for 0 and 1 |" in text
    assert "| [`lin-ts`](#lin-ts) | yes | yes | exact; with features of arms estimated |" in text
    assert "| [`lin-ucb`](#lin-ucb) | yes | yes | exact |" in text
    assert "| [`contextual-giro`](#contextual-giro) | yes | yes | estimated |" in text
    assert "| [`tree-bootstrap`](#tree-bootstrap) | yes |  |" in text
    assert "| [`squarecb`](#squarecb) | yes | yes; `hashed` | exact |" in text
    assert "| [`greedy`](#greedy) | with a model | with a model; `hashed` | exact |" in text
    assert "| [`uniform`](#uniform) |  | ignored | exact |" in text
