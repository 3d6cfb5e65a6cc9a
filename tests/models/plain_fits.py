"""Print, as JSON, the coefficients of compiled models; run with and without compilation.

NUMBA_DISABLE_JIT=1 python tests/models/plain_fits.py
"""

import json
import sys

from models.contexts import dense, drawn_counts, one_hot, rewards_for, sample_of

from giro.model import Model, refit, start
from giro.seeds import stream

NAMES = ("linear", "logistic", "linear-sgd", "logistic-sgd")


def fits() -> dict[str, list[str]]:
    """Return each model's coefficients after three fits, to the last digit."""
    found = {}
    for kind, X in {"dense": dense(40, 4, 0), "one-hot": 0.3 * one_hot(60, 0)}.items():
        for name in NAMES:
            model, rng = Model.parse(name), stream(5)
            state = start(model, 1, X.shape[1], 10, rng)
            for again in range(3):
                sample = sample_of(X, rewards_for(X, 0), drawn_counts(len(X), again))
                refit(state, 0, sample, rng)
            found[f"{name} on {kind}"] = [float(value).hex() for value in state.theta[0]]
    return found


if __name__ == "__main__":
    json.dump(fits(), sys.stdout)
