"""Whether regret grows like log n or like n."""

import numpy as np
import pytest

from giro import Trace, simulate
from giro.paper.claims import Claim, judge
from giro.paper.growth import grows_linearly, grows_logarithmically, log_fit_gains
from giro.seeds import stream
from giro.simulation.trace import Setting

SETTING = Setting("ucb1", "bernoulli", rounds=1000, seed=0, points=100)


def growing(curve: np.ndarray, *, runs: int = 20, noise: float = 0.1) -> Trace:
    """Return a trace whose runs are this curve with random steps added."""
    steps = stream(3).normal(size=(runs, curve.size)).cumsum(axis=1)
    zeros = np.zeros((runs, curve.size))
    regret = curve + noise * steps
    return Trace(SETTING, np.arange(runs), regret, zeros, zeros, zeros, np.ones(runs))


LOG = np.log(SETTING.checkpoints) * 30
LINE = SETTING.checkpoints / 10.0


@pytest.mark.parametrize(("curve", "sign"), [(LOG, 1), (LINE, -1)])
def test_the_right_shape_wins(curve: np.ndarray, sign: int) -> None:
    trace = growing(curve)
    verdicts = [
        judge([Claim("1", "", [shape(trace)])])[0].word
        for shape in (grows_logarithmically, grows_linearly)
    ]
    assert verdicts == (["holds", "fails"] if sign > 0 else ["fails", "holds"])


def test_the_estimate_is_the_difference_of_both_fits() -> None:
    trace = growing(LOG, noise=0.0)
    late = trace.checkpoints >= 100
    t, mean = trace.checkpoints[late], trace.regret.mean(axis=0)[late]
    log, line = (np.corrcoef(x, mean)[0, 1] ** 2 for x in (np.log(t), t))
    assert log == pytest.approx(1.0)
    assert log_fit_gains(trace).mean() == pytest.approx(log - line)


def test_the_jackknife_knows_its_error() -> None:
    """Over many samples of runs the estimate varies as much as its standard error says."""
    whole = growing(LOG, runs=4000, noise=1.0)
    samples = [
        Trace(SETTING, whole.runs[i::100], whole.regret[i::100], *[whole.best[i::100]] * 4)
        for i in range(100)
    ]
    gains = [log_fit_gains(sample) for sample in samples]
    errors = [values.std(ddof=1) / values.size**0.5 for values in gains]
    assert np.std([values.mean() for values in gains]) == pytest.approx(np.mean(errors), rel=0.3)


def test_uniform_pulls_cost_linearly_and_nothing_lost_decides_nothing() -> None:
    uniform = simulate("uniform", "bernoulli", rounds=500, runs=10)
    assert grows_linearly(uniform).gain.mean > 0
    nothing = simulate("uniform", "bernoulli:means=[0.5]", rounds=50, runs=3)
    assert grows_logarithmically(nothing).gain[:2] == (0.0, 0.0)


def test_one_run_has_no_error() -> None:
    assert np.isnan(grows_linearly(growing(LINE, runs=1)).gain.se)
