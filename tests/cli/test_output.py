"""What is printed for programs."""

import json

import pytest

from giro.cli.output import print_json


def test_what_is_not_a_number_becomes_null(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"a": float("nan"), "b": float("inf"), "c": 1.5, "d": "x"}])
    assert json.loads(capsys.readouterr().out) == [{"a": None, "b": None, "c": 1.5, "d": "x"}]
