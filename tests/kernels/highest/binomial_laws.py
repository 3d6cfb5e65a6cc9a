"""Laws of the highest of binomial values, the slow way."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from giro.kernels.giro.pseudo_rewards import pseudo_count_distribution
from giro.kernels.highest.binomial_argmax import (
    BinomialValues,
    empty_values,
    set_share,
    set_variant,
)


def law_in_long_numbers(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of ones within 13 standard deviations, and their probabilities."""
    reach = 13 * np.sqrt(n * p * (1 - p)) + 60
    ones = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1)
    odds = np.longdouble(p) / (1 - np.longdouble(p)) if p < 1 else np.longdouble(np.inf)
    if odds in {0, np.inf}:
        return np.array([n * p], np.int64), np.ones(1, np.longdouble)
    with np.errstate(divide="ignore"):
        steps = np.log((n - ones[:-1]) * odds / ones[1:])
    middle = int(np.argmin(abs(ones - n * p)))
    logs = np.concatenate([[0], np.cumsum(steps)])
    masses = np.exp(logs - logs[middle])
    return ones, masses / masses.sum()


# weight, offset, n, p, m of each variant
Law: TypeAlias = list[tuple[float, float, int, float, int]]


def law_of_all_points(laws: list[Law], ranking: np.ndarray) -> np.ndarray:
    """Return the probability of each arm, summed over all points of each of them.

    Of tied arms the one with the largest number wins: its rank, or one drawn from [0, 1].
    """
    points = []
    for law in laws:
        parts = [
            (w, (o + s) / m, b) for w, o, n, p, m in law for s, b in [law_in_long_numbers(n, p)]
        ]
        values = np.concatenate([x for _, x, _ in parts])
        masses = np.concatenate([w * b for w, _, b in parts])
        values, place = np.unique(values, return_inverse=True)
        sums = np.zeros(values.size, np.longdouble)
        np.add.at(sums, place, masses)
        points.append((values, sums, np.concatenate([[0], np.cumsum(sums)])))
    nodes, weights = np.polynomial.legendre.leggauss(8)  # exact for up to 16 arms
    chances = np.zeros(len(laws), np.longdouble)
    for j, (values, masses, _) in enumerate(points):
        wins = np.ones((8, values.size), np.longdouble)
        for i, (others, theirs, below) in enumerate(points):
            if i != j:
                place = np.searchsorted(others, values)
                tied = others[np.minimum(place, others.size - 1)] == values
                here = np.where(tied, theirs[np.minimum(place, others.size - 1)], 0)
                share = ranking[i] < ranking[j] if ranking.size else (nodes[:, None] + 1) / 2
                wins *= below[place] + share * here
        chances[j] = (masses * (weights[:, None] / 2 * wins).sum(axis=0)).sum()
    return chances.astype(float)


def set_all(laws: list[Law]) -> BinomialValues:
    values = empty_values(len(laws))
    for arm, law in enumerate(laws):
        for variant, (_, offset, n, p, m) in enumerate(law):
            set_variant(values, arm, variant, offset, n, p, m)
        set_share(values, arm, law[1][0] if len(law) > 1 else 0.0)
    return values


def giro(pulls: list[int], ones: list[int], a: float) -> list[Law]:
    laws = []
    for s, total in zip(pulls, ones, strict=True):
        floor, share = pseudo_count_distribution(a, s)
        sizes = [(1.0 - share, floor)] + ([(share, floor + 1)] if share > 0.0 else [])
        laws.append([(w, 0.0, s + 2 * k, (total + k) / (s + 2 * k), s + 2 * k) for w, k in sizes])
    return laws


def phe(pulls: list[int], ones: list[int]) -> list[Law]:
    return [
        [(1.0, float(total), int(1.1 * s) + 1, 0.5, s + int(1.1 * s) + 1)]
        for s, total in zip(pulls, ones, strict=True)
    ]


def bell(x: np.ndarray, n: int, p: float) -> np.ndarray:
    """Return the density of S / n, S from the continuous binomial, in long numbers."""
    x, size, mean = np.asarray(x, np.longdouble), np.longdouble(n), np.longdouble(p)
    distance = x * np.log(x / mean) + (1 - x) * np.log((1 - x) / (1 - mean))
    errors = stirling(size) - stirling(size * x) - stirling(size * (1 - x))
    return np.asarray(np.sqrt(size / (2 * np.pi * x * (1 - x))) * np.exp(errors - size * distance))


def stirling(z: Any) -> Any:
    """Return the error of Stirling's formula, z >= 4, to 9 digits, and to 18 from 30 on."""
    factors = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
    return sum(f / z ** (2 * j + 1) for j, f in enumerate(factors))


class Placed(NamedTuple):
    """Where the value of an arm is."""

    points: dict[float, Any]  # the probability of each, none if it is continuous
    inside: Any  # [cell, node] probability of a cell, if all of it had this node's density
    up_to: Any  # [cell, node] probability of what is lower
    below: Any  # [point] probability of what is lower than each point of any arm


def law_of_bells(laws: list[Law], continuous: list[bool], ranking: np.ndarray) -> np.ndarray:
    """Return the probability of each arm, where some values are continuous.

    The line is cut into narrow cells, at all points of the others too. In each cell densities are
    polynomials through Gauss's nodes.
    """
    points = [
        {} if is_bell else points_of(law) for law, is_bell in zip(laws, continuous, strict=True)
    ]
    low, high, step = ends(laws, continuous)
    values = np.array(sorted({x for each in points for x in each if x >= low}))
    grid = np.linspace(low, high, int((high - low) / step) + 2)
    edges = np.unique(np.concatenate([grid, values[values < high]]))
    arms = [placed(law, own, edges, values) for law, own in zip(laws, points, strict=True)]
    weights, chances = np.polynomial.legendre.leggauss(12)[1] / 2, []
    lots, shares = np.polynomial.legendre.leggauss(8)
    for j, arm in enumerate(arms):
        others = [i for i in range(len(laws)) if i != j]
        rest = np.prod([arms[i].up_to for i in others], axis=0)
        chance = (arm.inside * rest * weights).sum()
        for lot, share in zip((lots + 1) / 2, shares / 2, strict=True):
            wins = share * masses_at(values, arm.points)
            for i in others:
                tie = float(ranking[i] < ranking[j]) if ranking.size else lot
                wins *= arms[i].below + tie * masses_at(values, arms[i].points)
            chance += wins.sum()
        chances.append(chance)
    return np.array(chances, float)


def ends(laws: list[Law], continuous: list[bool]) -> tuple[float, float, float]:
    """Return the lowest value that matters, the highest of bells, and the width of cells."""
    spreads = [[(p, np.sqrt(p * (1 - p) / m), m) for _, _, _, p, m in law] for law in laws]
    bells = [
        part
        for parts, is_bell in zip(spreads, continuous, strict=True)
        if is_bell
        for part in parts
    ]
    low = max(min(p - 13 * s - 60 / m for p, s, m in parts) for parts in spreads)
    high = min(max(p + 13 * s for p, s, _ in bells), 1 - max(4 / m for _, _, m in bells))
    return max(low, min(4 / m for _, _, m in bells)), high, min(s for _, s, _ in bells) / 3


def placed(law: Law, points: dict[float, Any], edges: np.ndarray, values: np.ndarray) -> Placed:
    """Return where an arm's value is among cells and points."""
    legendre, (nodes, weights) = np.polynomial.legendre, np.polynomial.legendre.leggauss(12)
    wide = np.diff(edges).astype(np.longdouble)[:, None]
    x = edges[:-1, None] + wide * (nodes + 1) / 2
    if points:
        places = np.array(sorted(points))
        sums = np.cumsum([0, *(points[value] for value in sorted(points))])
        lower = sums[np.searchsorted(places, x[:, 5])][:, None]
        return Placed(points, 0 * x, lower + 0 * x, sums[np.searchsorted(places, values)])
    through = np.linalg.inv(legendre.legvander(nodes, 11))
    up_to = legendre.legval(nodes, legendre.legint(through, lbnd=-1)) / 2  # [r, q]
    inside = wide * np.sum([w * bell(x, m, p) for w, _, _, p, m in law], axis=0)
    above = np.append(np.cumsum((inside @ weights / 2)[::-1])[::-1], np.longdouble(0))
    below = (1 - above)[np.searchsorted(edges, np.minimum(values, edges[-1]))]
    return Placed(points, inside, 1 - above[:-1, None] + inside @ up_to, below)


def masses_at(values: np.ndarray, points: dict[float, Any]) -> Any:
    """Return the probability of each of these values."""
    return np.array([points.get(value, 0) for value in values], np.longdouble)


def points_of(law: Law) -> dict[float, Any]:
    """Return the probability of each value of a binomial arm."""
    points: dict[float, Any] = {}
    for w, o, n, p, m in law:
        for s, mass in zip(*law_in_long_numbers(n, p), strict=True):
            value = float((o + s) / m)
            points[value] = points.get(value, np.longdouble(0)) + w * mass
    return points
