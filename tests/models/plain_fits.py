"""Print, as JSON, the coefficients of compiled models; run with and without compilation.

NUMBA_DISABLE_JIT=1 python tests/models/plain_fits.py
"""

import json
import sys

from models.contexts import dense, drawn_counts, one_hot, rewards_for, sample_of

from giro.model import Model, Sample, partial_fit, refit, start, value
from giro.seeds import stream

NAMES = ("linear", "logistic", "linear-sgd", "logistic-sgd", "online-logistic")
ONLINE = "auto:members=[linear,online-logistic,online-network:hidden=3,extra-trees:trees=2]"


def fits() -> dict[str, list[str]]:
    """Return each model's coefficients after three fits, and what others expect, to the last bit."""
    found = {}
    for kind, X in {"dense": dense(40, 4, 0), "one-hot": 0.3 * one_hot(60, 0)}.items():
        for name in NAMES:
            model, rng = Model.parse(name), stream(5)
            state = start(model, 1, X.shape[1], 10, rng)
            for again in range(3):
                sample = sample_of(X, rewards_for(X, 0), drawn_counts(len(X), again))
                refit(state, 0, sample, rng)
            found[f"{name} on {kind}"] = [float(value).hex() for value in state.theta[0]]
    found["what auto expects"] = [float(each).hex() for each in _expected_online()]
    return found


def _expected_online() -> list[float]:
    """Return what each member and all of them expect of a row before they learn it."""
    X, rng = dense(40, 3, 0), stream(5)
    whole, expected = sample_of(X, rewards_for(X, 0), drawn_counts(40, 0)), []
    state = start(Model.parse(ONLINE), 1, 3, 40, rng)
    for n in range(1, 41):
        expected += [value(each, 0, X[n - 1]) for each in (*state.members, state)]
        sample = Sample(whole.rows, whole.positions[:n], whole.counts[:n])
        partial_fit(state, 0, sample, rng)
    refit(state, 0, whole, rng)
    return [*expected, *state.share, *(value(state, 0, x) for x in X)]


if __name__ == "__main__":
    json.dump(fits(), sys.stdout)
