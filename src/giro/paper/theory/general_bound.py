"""The regret bound of general randomized exploration (Kveton et al., 2019, Theorem 1) in numbers.

Theorem 1 bounds the regret of any policy that pulls the arm with the highest drawn value. Theorem 2
bounds it further. Here it is evaluated for Bernoulli Giro instead. In Appendix A, the proof takes
mu_hat <= tau for a failure of the best arm and Q(tau) = P(mu_hat >= tau) for the probability of the
opposite. With mu_hat < tau for a failure the proof is right as it stands.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giro.errors import BadParameter
from giro.named import text_of
from giro.paper.claims import Verdict
from giro.paper.theory.bound import giro_bound
from giro.paper.theory.report import (
    Report,
    Table,
    digits,
    from_log,
    listed,
    look,
    panels,
    table,
    text,
)
from giro.paper.theory.terms import (
    ROUNDING,
    Floats,
    Means,
    SuboptimalArm,
    binomial_tail,
    check_pseudo_rewards,
    check_rounds,
    checked_means,
    log_binomial,
    suboptimal_arms,
)
from giro.simulation.metrics import estimate
from giro.simulation.simulate import simulate
from giro.tables import Column, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Integers = NDArray[np.int64]

_DROPPED_MASS = 1e-20  # largest binomial mass left out below the window of each s
_DROPPED_TERM = 1e-14  # largest 1 / Q - 1 left out above the window of each s
_CHUNK = 500  # pulls s evaluated at once
_STRICTLY = 1 + 1e-12  # Q > 1/n by rounding alone is Q = 1/n


@dataclass(frozen=True)
class ArmTerms:
    """The terms of Theorem 1 for a suboptimal arm, pulled at most a + b times on average."""

    arm: int
    gap: float
    tau: float
    a: float
    b: float

    @property
    def regret(self) -> float:
        """Return the bound on the regret that the arm causes."""
        return self.gap * (self.a + self.b)


@dataclass(frozen=True)
class GeneralBound:
    """The terms of Theorem 1, arm by arm."""

    arms: tuple[ArmTerms, ...]

    @property
    def regret(self) -> float:
        """Return the bound on the regret."""
        return sum(arm.regret for arm in self.arms)


def general_bound(
    means: Means, rounds: int, a: float = 1.0, *, taus: Sequence[float] | None = None
) -> GeneralBound:
    """Return the bound of Theorem 1 on the regret of Bernoulli Giro with any real a >= 0.

    `taus` has one number for each suboptimal arm, in the order of the arms. The default is the
    middle of the two arms' limits, (mu_i + a) / (2a + 1) + gap_i / (4a + 2) (Section 5.2). For
    real `a`, Q is the mixture over the two histories of Section 6.1. The terms left out of the sums
    are below rounds^2 1e-20 + rounds 1e-14 for each arm. The cost is up to 10 rounds^1.5 binomial
    tails for each arm: 10,000 rounds take seconds.
    """
    arms = suboptimal_arms(means)
    check_rounds(rounds)
    check_pseudo_rewards(a)
    chosen = [middle_tau(arm, a) for arm in arms] if taus is None else list(taus)
    if len(chosen) != len(arms):
        raise BadParameter(f"taus needs {len(arms)} numbers, one per suboptimal arm, got {taus}")
    best, terms = float(checked_means(means).max()), []
    for arm, tau in zip(arms, chosen, strict=True):
        optimism = _Optimism(tau, a)
        a_i = _summed_inverse(optimism, best, rounds)
        b_i = _summed_exceedance(optimism, arm.mean, rounds) + 1
        terms.append(ArmTerms(arm.arm, arm.gap, tau, a_i, b_i))
    return GeneralBound(tuple(terms))


def middle_tau(arm: SuboptimalArm, a: float) -> float:
    """Return the middle of the arm's limit and the best arm's."""
    return (arm.mean + a + 0.5 * arm.gap) / (2 * a + 1)


@dataclass(frozen=True)
class _Optimism:
    """Q(tau) of an arm whose `s` >= 1 rewards hold `x` ones, elementwise."""

    tau: float
    a: float

    def __call__(self, s: Integers, x: Integers) -> Floats:
        exact = self.a * s
        nearest = np.rint(exact)
        integral = np.abs(exact - nearest) <= ROUNDING * np.maximum(1.0, exact)
        floor = np.where(integral, nearest, np.floor(exact))
        up = np.where(integral, 0.0, exact - floor)
        lower = self._with_pseudo(s, x, floor)
        if not up.any():
            return lower
        return np.asarray((1 - up) * lower + up * self._with_pseudo(s, x, floor + 1))

    def _with_pseudo(self, s: Integers, x: Integers, k: Floats) -> Floats:
        m = s + 2 * k
        needed = self.tau * m
        y = np.ceil(needed - ROUNDING * np.maximum(1.0, np.abs(needed)))
        return binomial_tail(y, m, (x + k) / m)


def _summed_inverse(optimism: _Optimism, mean: float, rounds: int) -> float:
    """Return the sum over s of E[min(1 / Q_{1,s} - 1, n)], where the term of s = 0 is 0."""
    total = 0.0
    for s, x in _windows(optimism, mean, rounds):
        mass = np.exp(log_binomial(x, s, mean))
        total += float(mass @ (1 / np.maximum(optimism(s, x), 1 / (rounds + 1)) - 1))
    return total


def _windows(optimism: _Optimism, mean: float, rounds: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield pairs (s, x), flattened, that hold all but a negligible part of the sum.

    By Hoeffding's inequality the mass below the window of an s is at most _DROPPED_MASS, and
    likewise above it. 1 / Q - 1 falls with x, so the window also ends where that is negligible.
    """
    s = np.arange(1, rounds)
    reach = np.sqrt(-np.log(_DROPPED_MASS) * s / 2)
    low = np.maximum(np.floor(mean * s - reach), 0).astype(np.int64)
    high = np.minimum(np.ceil(mean * s + reach), s).astype(np.int64)
    high = np.minimum(high, _fewest_ones(optimism, s, level=1 - _DROPPED_TERM))
    kept = np.flatnonzero(low <= high)
    for start in range(0, kept.size, _CHUNK):
        chunk = kept[start : start + _CHUNK]
        widths = high[chunk] - low[chunk] + 1
        offsets = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
        yield np.repeat(s[chunk], widths), np.repeat(low[chunk], widths) + offsets


def _summed_exceedance(optimism: _Optimism, mean: float, rounds: int) -> float:
    """Return the sum over s of P(Q_{i,s} > 1/n), where Q_{i,0} = 1."""
    s = np.arange(1, rounds)
    first = 1.0 if rounds > 1 else 0.0
    enough = _fewest_ones(optimism, s, level=_STRICTLY / rounds)
    return first + float(binomial_tail(enough, s, mean).sum())


def _fewest_ones(optimism: _Optimism, s: Integers, *, level: float) -> Integers:
    """Return for each s the fewest ones with Q > level, s + 1 if none are enough.

    Q increases with the ones, so bisection finds it.
    """
    low, high = np.zeros_like(s), s + 1
    while np.any(low < high):
        middle = np.minimum((low + high) // 2, s)
        enough = optimism(s, middle) > level
        unsettled = low < high
        high = np.where(unsettled & enough, middle, high)
        low = np.where(unsettled & ~enough, middle + 1, low)
    return high


# -- the report: beside simulated regret and Theorem 2, how loose each is --------------------------

_POINTS = 9  # rounds, evenly spaced in logarithms, at which regret and bounds are compared
_FEWER = 1000  # rounds at which values of `a` are compared
_A = (0.1, 1 / 3, 1.0, 2.0, 3.0)


class Question(NamedTuple):
    """One problem, Giro's `a`, and the size of the simulation."""

    means: Sequence[float]
    rounds: int
    a: float
    runs: int
    seed: int


def general_bound_report(question: Question) -> Report:
    """Return both theorems beside simulation, against the rounds and against `a`."""
    check_rounds(question.rounds, at_least=2)
    against_rounds = [
        _row(question, n, regrets) for n, regrets in _simulated(question, _POINTS).items()
    ]
    fewer = question._replace(rounds=min(question.rounds, _FEWER))
    against_a = []
    for a in sorted({*_A, question.a}):
        same = fewer._replace(a=a)
        against_a.append(_row(same, fewer.rounds, _simulated(same, 1)[fewer.rounds]))
    return Report(
        command=(
            f"giro theory general-bound --means {listed(question.means)} "
            f"--rounds {question.rounds} --a {text(question.a)} --runs {question.runs} "
            f"--seed {question.seed}"
        ),
        tables=(_arm_table(question), *_tables(question, against_rounds, against_a)),
        statements=(
            *_statements(against_rounds, against_a),
            _increases(against_a),
            _b_is_small(question),
        ),
        draw=partial(_draw, against_rounds, against_a),
    )


def _arm_table(question: Question) -> Table:
    means, rounds, a = question.means, question.rounds, question.a
    bound = _theorem_1(tuple(means), rounds, a)
    theorem_2 = [(math.nan, math.nan)] * len(bound.arms)
    if _has_theorem_2(a):
        theorem_2 = [(arm.log_a, arm.b) for arm in giro_bound(means, rounds, a).arms]
    columns = (
        Column("arm", show=text),
        Column("gap", show=digits(4)),
        Column("tau", show=fixed(4)),
        Column("a", "a_i", fixed(1)),
        Column("b", "b_i", fixed(1)),
        Column("regret", "gap (a_i + b_i)", fixed(1)),
        Column("theorem_2_log_a", "a_i, Theorem 2", from_log),
        Column("theorem_2_b", "b_i, Theorem 2", fixed(1)),
    )
    rows = [
        (arm.arm, arm.gap, arm.tau, arm.a, arm.b, arm.regret, *terms)
        for arm, terms in zip(bound.arms, theorem_2, strict=True)
    ]
    title = f"Theorem 1 with tau in the middle, after {rounds} rounds; arms counted from 0"
    return table("arms", title, columns, rows)


def _simulated(question: Question, points: int) -> dict[int, Floats]:
    """Return the regret of each run after some numbers of rounds, the last being all rounds."""
    trace = simulate(
        f"giro:a={text_of(float(question.a))}",
        f"bernoulli:means=[{listed(question.means)}]",
        rounds=question.rounds,
        runs=question.runs,
        seed=question.seed,
        points=points,
        spacing="log",
    )
    wanted = np.rint(np.geomspace(1, question.rounds, points)[1 if points > 1 else 0 :])
    at = np.flatnonzero(np.isin(trace.checkpoints, [*wanted, question.rounds]))
    return {int(trace.checkpoints[i]): trace.regret[:, i] for i in at}


class _Row(NamedTuple):
    rounds: int
    a: float
    regret: float
    regret_se: float
    regret_margin: float  # half the 95 % interval
    theorem_1: float
    log_theorem_2: float
    trivial: float


def _row(question: Question, n: int, regrets: Floats) -> _Row:
    means, a, regret = question.means, question.a, estimate(regrets)
    return _Row(
        n,
        a,
        regret.mean,
        regret.se,
        regret.margin,
        _theorem_1(tuple(means), n, a).regret,
        giro_bound(means, n, a).log_regret if _has_theorem_2(a) else math.nan,
        n * max(arm.gap for arm in suboptimal_arms(means)),
    )


@lru_cache(maxsize=64)
def _theorem_1(means: tuple[float, ...], rounds: int, a: float) -> GeneralBound:
    return general_bound(means, rounds, a)


def _has_theorem_2(a: float) -> bool:
    return a > 1 / math.sqrt(2)


def _tables(question: Question, by_rounds: Sequence[_Row], by_a: Sequence[_Row]) -> list[Table]:
    regret = (
        Column("regret", "simulated", fixed(2)),
        Column("regret_margin", "±95%", fixed(2)),
        Column("theorem_1", "Theorem 1", fixed(1)),
    )
    theorem_2 = Column("log_theorem_2", "Theorem 2", from_log)
    against_rounds = (
        Column("rounds", show=text),
        *regret,
        theorem_2,
        Column("trivial", "rounds x gap", digits(6)),
    )
    against_a = (Column("a", show=text), *regret, theorem_2)
    title = f"Regret and its bounds, a = {text(question.a)}"
    title_a = f"Regret and its bounds after {by_a[0].rounds} rounds"
    return [
        Table("against-rounds", title, against_rounds, [row._asdict() for row in by_rounds]),
        Table("against-a", title_a, against_a, [row._asdict() for row in by_a]),
    ]


def _statements(by_rounds: Sequence[_Row], by_a: Sequence[_Row]) -> list[Verdict]:
    rows, last = [*by_rounds, *by_a], by_rounds[-1]
    ratio = [row.theorem_1 / row.regret for row in rows]
    bounded = [row for row in rows if not math.isnan(row.log_theorem_2)]
    statements = [
        Verdict(
            "Theorem 1: simulated regret <= bound",
            all(row.regret + np.nan_to_num(row.regret_margin) <= row.theorem_1 for row in rows),
            f"bound / regret is {min(ratio):.1f} to {max(ratio):.1f}; "
            f"{ratio[len(by_rounds) - 1]:.1f} after {last.rounds} rounds",
        )
    ]
    if bounded:
        logs = [row.log_theorem_2 - math.log(row.regret) for row in bounded]
        statements.append(
            Verdict(
                "Theorem 2: simulated regret <= bound",
                min(logs) >= 0,
                f"bound / regret is {from_log(min(logs))} to {from_log(max(logs))}",
            )
        )
    return statements


def _increases(rows: Sequence[_Row]) -> Verdict:
    bounds = [row.theorem_1 for row in rows]
    return Verdict(
        f"Theorem 1 increases with a = {', '.join(text(row.a) for row in rows)}",
        bounds == sorted(bounds),
        ", ".join(f"{bound:.1f}" for bound in bounds),
    )


def _b_is_small(question: Question) -> Verdict:
    """Check that b_i satisfies the constant of Theorem 2, which its proof misses by 1."""
    n, a = question.rounds, question.a
    bound = _theorem_1(tuple(question.means), n, a)
    pairs = [(arm.b, 8 * (2 * a + 1) / arm.gap**2 * math.log(n) + 2) for arm in bound.arms]
    return Verdict(
        "b_i <= (8 (2a + 1) / gap^2) log n + 2",
        all(b <= limit for b, limit in pairs),
        "; ".join(f"{b:.1f} against {limit:.1f}" for b, limit in pairs),
    )


def _draw(by_rounds: Sequence[_Row], by_a: Sequence[_Row]) -> "Figure":
    """Draw all bounds, those that are not trivial, and their dependence on `a`."""
    n = [row.rounds for row in by_rounds]
    with panels(3) as (figure, (left, middle, right)):
        has_theorem_2 = _has_theorem_2(by_rounds[-1].a)
        if has_theorem_2:
            logs = [min(row.log_theorem_2, 690.0) for row in by_rounds]  # as far as floats go
            left.plot(n, np.exp(logs), label="Theorem 2", **look(4))
        for panel in (left, middle):
            trivial = [row.trivial for row in by_rounds]
            panel.plot(n, trivial, label="n times largest gap", **look(3))
            panel.plot(n, [row.theorem_1 for row in by_rounds], label="Theorem 1", **look(2))
            _draw_simulated(panel, n, by_rounds)
            panel.set_xscale("log")
            panel.set_xlabel("rounds n")
        left.set_title("all bounds")
        left.set_ylabel("cumulative regret")
        middle.set_title("without Theorem 2")
        left.legend(loc="center right" if has_theorem_2 else "upper left")
        a = [row.a for row in by_a]
        right.plot(a, [row.theorem_1 for row in by_a], label="Theorem 1", **look(2))
        _draw_simulated(right, a, by_a)
        right.set_title(f"against a, after {by_a[-1].rounds:,} rounds")
        right.set_xlabel("a, pseudo rewards of each kind per pull")
        right.set_yscale("linear")
        right.set_ylim(bottom=0)
        right.legend(loc="upper left")
    return figure


def _draw_simulated(panel: "Axes", x: Sequence[float], rows: Sequence[_Row]) -> None:
    """Draw simulated regret between the ends of its confidence intervals."""
    regret = np.array([row.regret for row in rows])
    margin = np.array([row.regret_margin for row in rows])
    panel.plot(x, regret, label="simulated", marker="o", ms=3, **look(0))
    if np.isfinite(margin).all():
        low = np.maximum(regret - margin, 1e-3)  # a logarithmic axis has no 0
        color = look(0)["color"]
        panel.fill_between(x, low, regret + margin, color=color, alpha=0.18, linewidth=0)
    panel.set_yscale("log")
    panel.margins(x=0.02)
