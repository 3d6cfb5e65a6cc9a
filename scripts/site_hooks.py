"""Bring what pages link to outside docs/ into the site: pictures of results, examples.

On a code host `docs/theory.md` shows `../results/theory/bound.png`. A site knows only docs/, so the
root of the repository is laid over docs/: the file comes to `results/theory/bound.png`, and the
link loses the step that led out. A link to nothing is left alone, and a strict build refuses it.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")  # of the root, and pages of the site
LINK = re.compile(r"(\]\()([^)\s#]+)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files that pages link to, and the pages of the root."""
    for name in PAGES:
        files.append(_file(name, config))
    for page in list(files.documentation_pages()):
        for _, link in LINK.findall(page.content_string):
            name = outside(page.src_uri, link)
            if name is not None and files.get_file_from_path(name) is None:
                files.append(_file(name, config))
    return files


def on_page_markdown(markdown: str, *, page: Any, **rest: Any) -> str:
    """Make links that lead out of docs/ lead to where their files are in the site."""
    here = page.file.src_uri
    return LINK.sub(lambda link: link[1] + inside(here, link[2]), markdown)


def outside(page: str, link: str) -> str | None:
    """Return the path from the root of a linked file, None if docs/ has it or there is none.

    >>> outside("theory.md", "../results/README.md")
    'results/README.md'
    >>> outside("theory.md", "scaling.md") is None
    True
    """
    where = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    is_outside = ":" not in link and not where.startswith(("docs/", "../", "/"))
    return where if is_outside and (ROOT / where).is_file() else None


def inside(page: str, link: str) -> str:
    """Return the link that leads from a page to the file's place in the site."""
    name = outside(page, link)
    return link if name is None else posixpath.relpath(name, posixpath.dirname(page) or ".")


def _file(name: str, config: MkDocsConfig) -> File:
    return File.generated(config, name, abs_src_path=str(ROOT / name))
