"""The coefficients of compiled models; asked for with and without compilation."""

from collections.abc import Sequence

from models.contexts import dense, drawn_counts, one_hot, rewards_for, sample_of

from giro.model import Model, Sample, partial_fit, refit, start, value
from giro.seeds import stream

NAMES = ("linear", "logistic", "linear-sgd", "logistic-sgd", "online-logistic")
ONLINE = (
    "hashed:bits=8",
    "online-network:hidden=3",
    "auto:members=[linear,online-logistic]",
)
LONG_TO_COMPILE = ("auto:members=[linear,extra-trees:trees=2,tree]",)


def fits(online: Sequence[str]) -> dict[str, list[str]]:
    """Return coefficients after three fits, or what a model expects, to the last bit."""
    found = {}
    for kind, X in {"dense": dense(40, 4, 0), "one-hot": 0.3 * one_hot(60, 0)}.items():
        for name in NAMES:
            model, rng = Model.parse(name), stream(5)
            state = start(model, 1, X.shape[1], 10, rng)
            for again in range(3):
                sample = sample_of(X, rewards_for(X, 0), drawn_counts(len(X), again))
                refit(state, 0, sample, rng)
            found[f"{name} on {kind}"] = [float(value).hex() for value in state.theta[0]]
    for name in online:
        found[name] = [float(each).hex() for each in _expected(Model.parse(name))]
    return found


def _expected(model: Model) -> list[float]:
    """Return what an online model expects of each row before and after it learns it."""
    X, rng, expected = dense(40, 3, 0), stream(5), []
    whole = sample_of(X, rewards_for(X, 0), drawn_counts(40, 0))
    state = start(model, 1, 3, 40, rng)
    for n in range(1, 41):
        expected.append(value(state, 0, X[n - 1]))
        sample = Sample(whole.rows, whole.positions[:n], whole.counts[:n])
        partial_fit(state, 0, sample, rng)
    refit(state, 0, whole, rng)
    return [*expected, *(value(state, 0, x) for x in X)]
