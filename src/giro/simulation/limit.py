"""The limit of how slowly regret can grow (Lai and Robbins, 1985).

If a policy is good on all problems with rewards in [0, 1], its regret after n rounds of one of them
is at least C log n, up to terms that grow more slowly. C is the sum over all arms of
(highest mean - mean) / D(arm). D is the least divergence from the arm's distribution of one in
[0, 1] whose mean is higher than the highest. For rewards 0 and 1 this is the kl of Lai and Robbins.
For others it is that of Burnetas and Katehakis (1996), computed as in Honda and Takemura (2010):

    D = max of E log(1 - u (Y - m)) over u in [0, 1 / (1 - m)],   m = highest mean.
"""

import math

import numpy as np

from giro.problem import Law, Problem
from giro.problem import start as start_problem
from giro.seeds import stream
from giro.simulation.metrics import Estimate, estimate
from giro.simulation.trace import Trace

_STEPS = 60  # halvings of the interval: the last bit of u
_EQUAL = 1e-9  # gap below which two means are the same, up to rounding


def lai_robbins(problem: Problem | str, *, runs: int = 100, seed: int = 0) -> float:
    """Return the constant C of a problem, by which regret grows at least like C log n.

    It is the mean over the instances of this many runs of a simulation with this seed, which are
    all the same if the problem draws none. Where means are drawn, instances with nearly equal arms
    have a large C, which shows in regret only after very many rounds.

    >>> round(lai_robbins("bernoulli:means=[0.6,0.5,0.5]"), 3)
    9.799
    """
    problem = Problem.parse(problem)
    return float(np.mean([_constant(problem, seed, run) for run in range(runs)]))


def slope(trace: Trace) -> Estimate:
    """Return by how much regret grows when the log of the rounds grows by 1, near the end.

    That is from the checkpoint after a tenth of the rounds to the last one.
    """
    rounds = trace.checkpoints
    first = int(np.searchsorted(rounds, rounds[-1] / 10))
    grown = trace.regret[:, -1] - trace.regret[:, min(first, rounds.size - 2)]
    return estimate(grown / math.log(rounds[-1] / rounds[min(first, rounds.size - 2)]))


def divergence(law: Law, m: float) -> float:
    """Return the least divergence D from a law of one with a mean above m, with rewards in [0, 1].

    The derivative of E log(1 - u (Y - m)) falls with u. Its zero is found by halving.
    """
    if m >= 1.0:
        return math.inf
    possible = law.weights > 0.0
    distance, weights = law.values[possible] - m, law.weights[possible]
    if weights @ distance >= 0.0:
        return 0.0
    low, high = 0.0, 1.0 / (1.0 - m)
    for _ in range(_STEPS):
        u = (low + high) / 2.0
        rises = weights @ (distance / (1.0 - u * distance)) < 0.0
        low, high = (u, high) if rises else (low, u)
    return float(weights @ np.log1p(-low * distance))


def _constant(problem: Problem, seed: int, run: int) -> float:
    """Return C of the instance that is played in a run."""
    instance = start_problem(problem, stream(seed, run, 0))
    laws = [problem.law(instance, arm) for arm in range(problem.n_arms)]
    means = np.array([law.weights @ law.values for law in laws])
    m = float(means.max())
    pairs = ((m - mean, divergence(law, m)) for law, mean in zip(laws, means, strict=True))
    return float(sum(gap / least for gap, least in pairs if gap > _EQUAL))
