"""Numbers and lists as they are typed after options."""

import pytest

from giro.cli.options import policy_list


@pytest.mark.parametrize(
    ("text", "policies"),
    [
        ("", []),
        ("besa", ["besa"]),
        ("besa, phe:a=1.1", ["besa", "phe:a=1.1"]),
        ("giro:a=2,ties=fixed,ucb1", ["giro:a=2,ties=fixed", "ucb1"]),
        ("giro:a=1/3,gyro:b=1", ["giro:a=1/3", "gyro:b=1"]),
    ],
)
def test_commas_part_policies_and_parameters(text: str, policies: list[str]) -> None:
    assert policy_list(text) == policies
