"""What a log shows of itself."""

import re

from giro import read_log

HOSTILE = "<script>alert(1)</script>"
LOG = {
    "arm": ["a", HOSTILE, "a", "a"],
    "reward": [1.0, 0.25, 0.0, 0.5],
    "probability": [0.5, 0.5, 0.5, 0.5],
}


def test_a_console_shows_no_arrays() -> None:
    assert repr(read_log(LOG)) == f"Log(4 events, arms ['{HOSTILE}', 'a'])"
    many = {"arm": range(100), "reward": [0.0] * 100, "probability": [0.01] * 100}
    assert repr(read_log(many)).endswith("'19', and 80 more])")


def test_a_notebook_shows_the_arms_the_most_frequent_first() -> None:
    page = read_log(LOG)._repr_html_()
    assert "Log: 4 events" in page
    assert re.findall(r"<td[^>]*>(.*?)</td>", page) == [
        *("a", "3", "75.0%", "0.5000"),
        *("&lt;script&gt;alert(1)&lt;/script&gt;", "1", "25.0%", "0.2500"),
    ]
