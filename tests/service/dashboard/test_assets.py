"""The files of pages."""

import re

import pytest

from giro.service.dashboard import assets
from giro.service.errors import Problem


def test_all_files_together_are_small_and_name_no_other_host() -> None:
    contents = {name: assets.content(name) for name in assets._TYPES}
    assert sum(map(len, contents.values())) < 150_000
    for name, content in contents.items():
        found = {*re.findall(rb"https?://[\w./-]+", content)}
        allowed = {b"https://github.com/leeoniya/uPlot", b"http://www.w3.org/2000/svg"}
        assert found <= allowed, name


def test_a_file_has_another_address_when_it_changes() -> None:
    address = assets.address("dashboard.css")
    assert re.fullmatch(r"assets/dashboard\.css\?v=[0-9a-f]{10}", address)
    assert assets.address("dashboard.js").rpartition("=")[2] != address.rpartition("=")[2]


def test_a_file_is_kept_by_browsers_and_others_are_not_there() -> None:
    answer = assets.answer("uPlot.LICENSE.txt")
    assert b"MIT License" in answer.content
    assert "immutable" in answer.headers["cache-control"]
    for name in ("../assets.py", "other.js", ""):
        with pytest.raises(Problem, match="no file"):
            assets.answer(name)
