"""The site builds without a warning, needs nothing from elsewhere, and misses nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import giro

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does. With `--quiet` it would not count warnings."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{name}"' in home or name == "index.html"


def test_links_and_pictures_of_every_page_exist(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        links = re.findall(r'(?:href|src)="([^"#?]+)', page.read_text("utf-8"))
        inner = [link for link in links if ":" not in link and page.name != "404.html"]
        assert [link for link in inner if not (page.parent / link).exists()] == []


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]+)"', page.read_text()
        )
        assert [link for link in loaded if "//" in link] == []


def test_a_link_out_of_docs_loses_one_step_and_others_stay_as_they_are() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    from site_hooks import inside  # noqa: PLC0415  # a script, not a package

    assert inside("howto/add-a-policy.md", "../../CONTRIBUTING.md") == "../CONTRIBUTING.md"
    assert inside("theory.md", "../results/README.md") == "results/README.md"
    for link in ("scaling.md", "../no/such.png", "https://example.org/x.png"):
        assert inside("theory.md", link) == link


def test_figures_of_results_are_brought_into_the_site(site: Path) -> None:
    assert (site / "results" / "mab" / "regret.png").exists()
    assert 'src="results/mab/regret.png"' in (site / "reproduction.html").read_text("utf-8")


def test_the_reference_has_every_public_name_with_its_docstring(site: Path) -> None:
    reference = (site / "api.html").read_text("utf-8")
    modules = {"policies", "problems", "__version__"}
    for name in set(giro.__all__) - modules:
        assert f'id="giro.{name}"' in reference, name
    assert "Chooses among named arms" in reference
    assert "&gt;&gt;&gt;" not in re.sub(r"<code>.*?</code>", "", reference, flags=re.DOTALL)
