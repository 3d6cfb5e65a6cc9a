"""The lemmas and the single steps of the proofs, each over a grid of cases."""

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from giro.paper.theory import proof_steps as steps
from giro.paper.theory.bound import b_constant
from giro.paper.theory.checks import Check, at_most
from giro.paper.theory.lemmas import bootstrap_checks, history_checks, stirling_checks
from giro.paper.theory.pseudo import is_whole

_P = tuple(float(p) for p in np.linspace(0, 1, 21))
_INSIDE = _P[1:-1]
_A = (1 / 3, 1 / 2, 1.0, 2.0, 3.0)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_B = tuple(b_constant(a) for a in (0.75, 1, 2, 3, 10))
_GAPS = (0.05, 0.1, 0.3, 0.5)


def lemma_checks(most: int) -> dict[str, list[Check]]:
    """Return the lemmas of Appendix C for n = 1..most, as they stand and as they can be saved."""
    trials = range(1, most + 1)
    history = [check for n, p in product(trials, _P) for check in history_checks(n, p)]
    stirling = [check for n, p in product(trials, _INSIDE) for check in stirling_checks(n, p)]
    bootstrap = [
        check
        for n, p, a in product(trials, _P, _A)
        if is_whole(a * n)
        for check in bootstrap_checks(n, p, a, _SHARES)
    ]
    return {
        "Lemma 2": history,
        "Lemma 2, p > 0": [check for check in history if check.at["p"] > 0],
        "Lemma 3": bootstrap,
        "Lemma 4": stirling,
        "Lemma 4, 0 < x < n": [c for c in stirling if 0 < c.at["x"] < c.at["n"]],
    }


def proof_checks(most: int) -> dict[str, list[Check]]:
    """Return the steps of the proofs in Appendices B and C, by what they are about."""
    trials = range(1, most + 1)
    rounds = (100, 1000, 10_000, 100_000)
    return {
        "Theorem 4, Lemma 2 to the bound": list(_chains(most)),
        "Theorem 4, completed square": [
            steps.square_check(b, i) for b, i in product(_B, range(20))
        ],
        "Theorem 4, shifted sum": [steps.shifted_sum_check(b) for b in _B],
        "Theorem 4, integral": [steps.integral_check(b) for b in _B],
        "Theorem 4, half the integral": [steps.half_integral_check(b) for b in _B],
        "Lemma 2, Hoeffding": [
            steps.history_tail_check(n, p, i) for n, p, i in product(trials, _P, range(1, 5))
        ],
        "Lemma 3, floor of root": [steps.floor_of_root_check(n) for n in range(1, 10_001)],
        "Lemma 4, divergence": [
            steps.divergence_check(p, q) for p, q in product(_P, _INSIDE)
        ],
        "Theorem 2, history deviates": [
            steps.deviation_check(s, mean, gap, a)
            for s, mean, gap, a in product(trials, _INSIDE, _GAPS, (1.0, 3.0))
        ],
        "Theorem 2, sample deviates": [
            steps.sample_deviation_check(3 * s, ones, gap * s / 4)
            for s, gap in product(trials, _GAPS)
            for ones in range(s, 2 * s + 1)
        ],
        "Theorem 2, small failure": [steps.small_failure_check(n) for n in range(2, 10_001)],
        "Theorem 2, counted pulls (+ 2)": [
            steps.counted_pulls_check(n, gap, 1.0) for n, gap in product(rounds, _GAPS)
        ],
        "Theorem 2, counted pulls (+ 3)": [
            _one_more(steps.counted_pulls_check(n, gap, 1.0)) for n, gap in product(rounds, _GAPS)
        ],
    }  # fmt: skip


def _chains(most: int) -> Iterator[Check]:
    """Yield that each bound in the proof of Theorem 4 is at most the next, as logarithms."""
    for n, p, a in product((1, 2, 5, most), (0.05, 0.3, 0.5, 0.9), (1.0, 2.0, 3.0)):
        chain = steps.optimism_chain(n, p, a)
        for i, (smaller, larger) in enumerate(pairwise(chain)):
            yield at_most(chain._fields[i + 1], smaller, larger, n=n, p=p, a=a)


def _one_more(check: Check) -> Check:
    return at_most(check.claim, check.lhs, check.rhs + 1, **check.at)
