"""The setting that is chosen, and the claims in every setting."""

import dataclasses
import math

import numpy as np
import pytest
from paper.studies.earned import ADULT, SETUP, SPREAD, earning, traces
from scipy.special import stdtrit

from giro.paper.studies import settings
from giro.simulation.trace import Trace


def test_the_paper_scale_setting_is_the_one_in_which_greedy_earns_most() -> None:
    found: list[Trace] = []
    for i, setup in enumerate(settings.SETUPS):
        high = 0.9 if i == 3 else 0.5
        found += traces({setup.greedy("linear"): high, setup.giro("linear"): 1.0 - high}, setup)
    table = settings.verdicts(found)
    assert settings.chosen(table) == settings.SETUPS[3]
    missing = [t for t in found if t.setting.policy != settings.SETUPS[0].greedy("logistic")]
    assert settings.chosen(settings.verdicts(missing)) is None
    assert math.isnan(settings.earned(settings.SETUPS[0], missing).mean)
    picked = settings.earned(settings.SETUPS[3], found)
    assert picked.mean == pytest.approx((0.9 + 0.69) / 2)
    assert picked.se == pytest.approx(1e-4 * np.std([-1, 1, 0.5, -0.5, 0], ddof=1) / 5**0.5)


@pytest.mark.parametrize(("p_value", "verdict"), [(0.04, "holds"), (0.06, "undecided")])
def test_each_comparison_of_a_setting_has_the_whole_level(p_value: float, verdict: str) -> None:
    """Claim 3 is one comparison of 63; here its five runs have this p value."""
    se = np.std(SPREAD, ddof=1) / math.sqrt(5)
    gains = SPREAD - stdtrit(4, p_value / 2) * se
    pair = (SETUP.greedy("linear"), np.full(5, 0.5)), (SETUP.giro("linear"), 0.5 + gains)
    others = [t for t in traces({}) if t.setting.policy not in dict(pair)]
    table = settings.verdicts([*others, *(earning(p, ADULT, r) for p, r in pair)])
    (row,) = [row for row in settings.rows(table) if row["number"] == "3"]
    (line,) = [line for line in settings.comparisons(table) if line["number"] == "3"]
    assert (row["verdict"], line["verdict"]) == (verdict, verdict)
    assert line["p_value"] == pytest.approx(p_value)
    assert (line["scale"], line["fit"], line["runs"]) == (*SETUP, 5)


def test_the_rule_looks_at_runs_that_all_have() -> None:
    """Linear ε-greedy on Adult lacks the runs 0, 3 and 4; the others earn 0.75e-4 more in 1, 2."""
    found = traces({})
    gappy = earning(SETUP.greedy("linear"), ADULT, 0.6 + SPREAD[1:3], runs=[1, 2])
    expected = settings.earned(SETUP, found).mean + 0.75e-4
    assert settings.earned(SETUP, [gappy, *found]).mean == pytest.approx(expected, rel=1e-12)
    apart = dataclasses.replace(gappy, runs=gappy.runs + 10)
    assert math.isnan(settings.earned(SETUP, [apart, *found]).mean)
