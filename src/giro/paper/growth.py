"""How regret grows: whether log n or n explains it better over the last decade of rounds."""

import numpy as np

from giro.paper.claims import Comparison
from giro.simulation.metrics import estimate
from giro.simulation.trace import Trace


def grows_logarithmically(trace: Trace) -> Comparison:
    """Return R² of the fit of mean regret to log n, minus R² of the fit to n."""
    return _comparison(trace, "log fit against linear", 1.0)


def grows_linearly(trace: Trace) -> Comparison:
    """Return R² of the fit of mean regret to n, minus R² of the fit to log n."""
    return _comparison(trace, "linear fit against log", -1.0)


def _comparison(trace: Trace, what: str, sign: float) -> Comparison:
    gain = estimate(sign * log_fit_gains(trace))
    label = f"{trace.setting.policy}, {what}"
    return Comparison(label, trace.setting.problem, "R²", gain, trace.runs.size)


def log_fit_gains(trace: Trace) -> np.ndarray:
    """Return, for each run, what it adds to R²(log n) - R²(n) of the mean curve, [run].

    A run alone is a staircase and says little of either shape; what is logarithmic is expected
    regret. So the fits are made to the mean over runs, from round n/10 to n, and the uncertainty
    is found by leaving out one run at a time: these are the jackknife's pseudo-values, whose mean
    is the estimate and whose standard error is that of any mean.
    """
    rounds = trace.checkpoints[trace.checkpoints * 10 >= trace.setting.rounds]
    regret = trace.regret[:, -rounds.size :]
    n = trace.runs.size
    whole = _fit_gain(rounds, regret.mean(axis=0, keepdims=True))
    if n == 1:
        return whole
    without_one = (regret.sum(axis=0) - regret) / (n - 1)
    return np.asarray(n * whole - (n - 1) * _fit_gain(rounds, without_one))


def _fit_gain(rounds: np.ndarray, curves: np.ndarray) -> np.ndarray:
    gain = _r_squared(np.log(rounds), curves) - _r_squared(rounds.astype(float), curves)
    return np.asarray(gain)


def _r_squared(x: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return the share of each curve's variance that a straight line in x explains, [curve]."""
    x = x - x.mean()
    curves = curves - curves.mean(axis=-1, keepdims=True)
    squares = (x @ x) * (curves**2).sum(axis=-1)
    explained = np.divide((curves @ x) ** 2, squares, where=squares > 0, out=np.zeros(len(curves)))
    return np.asarray(explained)
