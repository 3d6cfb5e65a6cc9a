"""Pages from their contents."""

from urllib.parse import parse_qs, urlsplit

import jinja2
import pytest
from service.dashboard.conftest import NASTY

from giro.service.dashboard.templates import environment, html, link
from giro.service.errors import Problem


def test_everything_that_somebody_wrote_is_escaped() -> None:
    problem = Problem(422, f"no arm {NASTY}")
    page = html("problem", problem=problem, title=NASTY, visitor=None).decode()
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; &amp; &#39;q&#39; 😀") == 2


def test_a_name_that_no_text_can_hold_does_not_break_a_page() -> None:
    page = html("problem", problem=Problem(404, "x \ud800 y"), title="x", visitor=None)
    assert b"X ? y" in page
    assert link("arms", name="\ud800") == "arms?name=%3F"


def test_a_link_brings_back_its_parameters() -> None:
    address = link("bandit", name=NASTY, before=None, page=3)
    assert parse_qs(urlsplit(address).query) == {"name": [NASTY], "page": ["3"]}
    assert link("bandit") == "bandit"


def test_a_value_that_is_missing_is_an_error_and_not_an_empty_place() -> None:
    with pytest.raises(jinja2.UndefinedError):
        html("problem", title="x", visitor=None)


def test_no_page_names_another_host_or_holds_a_script_or_a_style_of_its_own() -> None:
    loader = environment().loader
    assert loader is not None
    for name in environment().list_templates():
        text = loader.get_source(environment(), name)[0]
        assert "https://" not in text
        assert "http://" not in text.replace("http://127.0.0.1:8720", "")
        assert " style=" not in text
        assert " on" + "click" not in text
        assert "<style" not in text
        assert "|safe" not in text
        assert all(" src=" in part or part == "" for part in _scripts(text))


def _scripts(text: str) -> list[str]:
    return [f" {part.partition('>')[0]}" for part in text.split("<script")[1:]]
