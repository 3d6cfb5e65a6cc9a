"""Timeline: how decisions and rewards went over time, in bounded memory, kept beside the log.

Decisions and rewards are counted as their events are applied, for each arm in stretches of time of
equal length. When there are too many stretches the length doubles, and pairs become one. A reward
belongs to the stretch of its decision. All of it follows from the log.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from giro.estimates import Estimate, normal_estimate, wilson_bounds

if TYPE_CHECKING:
    from giro.bandit.state import BanditState

MOST_ARMS: Final = 1000  # that are counted apart: all behind them are counted together
_MOST, _FEWEST = 200, 20  # stretches
_CELLS = 20_000  # numbers of a kind that all stretches together may have, unless they are few
_KINDS = ("decisions", "rewards", "total", "squares")
_ARRAY = "timeline"  # in a snapshot
_LATELY = 0.25  # of the rewards
_FEW = 10  # rewards of an arm: fewer say nothing about drift
_BY_CHANCE = 0.01  # that an arm seems to have drifted, of all together
_SHORTEST = -10  # power of two: delays of less than so many seconds are counted together


class _Stretch:
    """What happened to the decisions of a stretch of time, for each arm."""

    __slots__ = ("decisions", "expired", "rewards", "squares", "total")

    decisions: "array[float]"  # [arm]
    rewards: "array[float]"
    total: "array[float]"  # of the rewards
    squares: "array[float]"  # likewise

    def __init__(self, width: int, expired: int = 0) -> None:
        """Begin without events, with columns for this many arms."""
        self.expired = expired
        for kind in _KINDS:
            setattr(self, kind, array("d", bytes(8 * width)))

    def columns(self) -> "list[array[float]]":
        """Return the numbers of each kind, [arm]."""
        return [getattr(self, kind) for kind in _KINDS]

    def widen(self, width: int) -> None:
        """Make room for this many arms."""
        for column in self.columns():
            column.extend([0.0] * (width - len(column)))

    def add(self, other: "_Stretch") -> None:
        """Take in the events of another stretch."""
        self.widen(len(other.decisions))
        for own, theirs in zip(self.columns(), other.columns(), strict=True):
            np.frombuffer(own)[: len(theirs)] += theirs
        self.expired += other.expired


class Tally:
    """The numbers behind a `Timeline`, kept up to date with each event."""

    def __init__(self) -> None:
        """Begin without events."""
        self.length = 1.0  # seconds of a stretch
        self.delays = Counter[int]()  # rewards that came within 2^n seconds, and not within 2^(n-1)
        self._stretches: dict[int, _Stretch] = {}
        self._width = 1  # columns of the widest stretch
        self._begin = self._end = math.inf  # of the stretch that was counted last
        self._last = _Stretch(0)

    # -- events ------------------------------------------------------------------------------

    def is_one_stretch(self, first: float, last: float) -> bool:
        """Return whether times from a first to a last are in the present stretch."""
        return self._begin <= first and last < self._end

    def decided(self, arm: int, time: float, count: int = 1) -> None:
        """Count a decision, or several for the same arm."""
        if not self._begin <= time < self._end:
            self._turn_to(time)
        decisions = self._last.decisions
        if arm >= len(decisions):
            arm = self._place(arm)
        decisions[arm] += count

    def rewarded(self, arm: int, time: float, value: float, delay: float | None) -> None:
        """Count a reward, given above the lowest there can be, of a decision made at `time`.

        The delay is None where nothing came, and a default counts.
        """
        if not self._begin <= time < self._end:
            self._turn_to(time)
        stretch = self._last
        if arm >= len(stretch.rewards):
            arm = self._place(arm)
        stretch.rewards[arm] += 1.0
        stretch.total[arm] += value
        stretch.squares[arm] += value * value
        if delay is None:
            stretch.expired += 1
        else:
            self.delays[math.frexp(delay)[1] if delay > 2.0**_SHORTEST else _SHORTEST] += 1

    def _turn_to(self, time: float) -> None:
        """Go on in the stretch of this time."""
        number = int(time // self.length)
        if number not in self._stretches:
            self._stretches[number] = _Stretch(self._width)
            while len(self._stretches) > max(_FEWEST, min(_MOST, _CELLS // self._width)):
                self._double()
            number = int(time // self.length)
        self._last = self._stretches[number]
        self._begin, self._end = number * self.length, (number + 1) * self.length

    def _double(self) -> None:
        """Make one stretch of two."""
        pairs: dict[int, _Stretch] = {}
        for number, stretch in self._stretches.items():
            if number // 2 in pairs:
                pairs[number // 2].add(stretch)
            else:
                pairs[number // 2] = stretch
        self._stretches, self.length = pairs, 2.0 * self.length

    def _place(self, arm: int) -> int:
        """Return the column of an arm that has none in the last stretch yet, or that of all others.

        The last column is that of all arms behind `MOST_ARMS`.
        """
        place = min(arm, MOST_ARMS)
        self._width = max(self._width, place + 1)
        self._last.widen(self._width)
        return place

    def forget(self, arm: int) -> None:
        """Count the past of an arm with the others, because another arm gets its number."""
        if arm >= MOST_ARMS:
            return
        for stretch in self._stretches.values():
            if arm < len(stretch.decisions) and stretch.decisions[arm]:
                self._width = MOST_ARMS + 1
                stretch.widen(self._width)
                for column in stretch.columns():
                    column[MOST_ARMS] += column[arm]
                    column[arm] = 0.0

    # -- reading -----------------------------------------------------------------------------

    def numbers(self) -> list[int]:
        """Return the numbers of stretches, ascending: each times the length is its begin."""
        return sorted(self._stretches)

    def sums(self) -> np.ndarray:
        """Return all numbers, [stretch, kind, arm]: decisions, rewards, total and squares."""
        sums = np.zeros((len(self._stretches), len(_KINDS), self._width))
        for place, number in enumerate(self.numbers()):
            for kind, column in enumerate(self._stretches[number].columns()):
                sums[place, kind, : len(column)] = column
        return sums

    def expired(self) -> np.ndarray:
        """Return the defaults that count because nothing came, [stretch]."""
        return np.array([self._stretches[n].expired for n in self.numbers()], np.int64)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return plain data and arrays for `restored`."""
        about = {
            "length": self.length,
            "numbers": self.numbers(),
            "expired": self.expired().tolist(),
            "delays": sorted(self.delays.items()),
        }
        return about, {_ARRAY: self.sums()}

    @classmethod
    def restored(cls, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Tally":
        """Return the numbers in a snapshot."""
        tally, sums = cls(), arrays[_ARRAY]
        tally.length, tally._width = float(plain["length"]), sums.shape[2]
        tally.delays = Counter(dict(plain["delays"]))
        for number, expired, columns in zip(plain["numbers"], plain["expired"], sums, strict=True):
            stretch = tally._stretches[number] = _Stretch(0, expired)
            for kind, column in zip(_KINDS, columns, strict=True):
                setattr(stretch, kind, array("d", column.tobytes()))
        return tally


def without_tally(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of a snapshot that belong to the policy."""
    return {path: array for path, array in arrays.items() if path != _ARRAY}


class Timeline(NamedTuple):
    """How decisions and rewards went over time, see `Bandit.timeline`.

    Each line is an arm, or several together. Stretches without decisions are left out.
    """

    begin: np.ndarray  # [stretch] seconds
    end: np.ndarray  # [stretch]
    names: tuple[str, ...]  # [line] arms, the most frequent first; then other arms; then all
    n_arms: int  # lines that are one arm each
    decisions: np.ndarray  # [stretch, line]
    rewards: np.ndarray  # [stretch, line] that came, expired ones included
    mean: np.ndarray  # [stretch, line] of these rewards, NaN without any
    low: np.ndarray  # [stretch, line] ends of the 95 % interval
    high: np.ndarray
    expired: np.ndarray  # [stretch] rewards that are defaults, because nothing came
    delays: tuple[tuple[float, int], ...]  # seconds, and rewards within these and not within half


def timeline(state: "BanditState", arms: int, stretches: int) -> Timeline:
    """Return the timeline of a state.

    See `Bandit.timeline`.
    """
    tally = state.counts.tally
    begin, sums, expired, length = _joined(tally, stretches)
    own, others = _frequent(sums[:, 0].sum(axis=0), arms)
    lines = [sums[:, :, [arm]] for arm in own]
    names = [state.arms[arm] for arm in own]
    if others:
        n = len(state.arms) - len(own)
        lines.append(sums[:, :, others].sum(axis=2, keepdims=True))
        names.append(f"{n:,} other arm{'s' * (n != 1)}")
    lines.append(sums.sum(axis=2, keepdims=True))
    decisions, rewards, total, squares = np.moveaxis(np.concatenate(lines, axis=2), 1, 0)
    return Timeline(
        begin,
        begin + length,
        (*names, "all arms"),
        len(own),
        decisions.astype(np.int64),
        rewards.astype(np.int64),
        *_means(rewards, total, squares, state),
        expired,
        tuple((2.0**power, count) for power, count in sorted(tally.delays.items())),
    )


def _joined(tally: Tally, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return begins, sums, expired rewards and the length of no more than `most` stretches."""
    numbers, sums = np.array(tally.numbers(), np.int64), tally.sums()
    expired, length = tally.expired(), tally.length
    while numbers.size > most:
        numbers, length = numbers // 2, 2.0 * length
        firsts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        numbers, sums = numbers[firsts], np.add.reduceat(sums, firsts)
        expired = np.add.reduceat(expired, firsts)
    return numbers * length, sums, expired, length


def _frequent(decisions: np.ndarray, most: int) -> tuple[list[int], list[int]]:
    """Return the most frequent arms and all others that were ever chosen."""
    order = np.argsort(-decisions[:MOST_ARMS], kind="stable")
    chosen = [arm for arm in order.tolist() if decisions[arm] > 0]
    rest = [MOST_ARMS] if decisions.size > MOST_ARMS and decisions[MOST_ARMS] > 0 else []
    return chosen[:most], chosen[most:] + rest


def _means(
    n: np.ndarray, total: np.ndarray, squares: np.ndarray, state: "BanditState"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means with their 95 % intervals, as `summary` has them."""
    least, most = state.setting.reward_range
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        if state.counts.binary:
            low, high = wilson_bounds(mean / (most - least), n)
            return least + mean, least + (most - least) * low, least + (most - least) * high
        spread = np.maximum(squares - n * mean * mean, 0.0)
        half = normal_estimate(0.0, 1.0).high * np.sqrt(spread / (n - 1.0) / n)
    half = np.where(n == 1, np.inf, half)
    low, high = np.maximum(mean - half, 0.0), np.minimum(mean + half, most - least)
    return least + mean, least + low, least + high


class Drift(NamedTuple):
    """The mean reward of an arm lately, and before: see `Bandit.drift`."""

    arm: str
    since: float  # seconds at which lately begins
    before: float
    lately: float
    change: Estimate  # from before to lately
    is_clear: bool  # whether chance alone would hardly do this


def drift(state: "BanditState") -> list[Drift]:
    """Return the change of each arm's mean reward, the largest first."""
    from scipy.special import ndtri  # noqa: PLC0415  # quick start

    begin, sums, _, _ = _joined(state.counts.tally, _MOST)
    shares = np.cumsum(sums[:, 1].sum(axis=1))
    first = int(np.searchsorted(shares, (1.0 - _LATELY) * shares[-1])) + 1 if shares.size else 0
    if first >= begin.size:
        return []
    parts = np.stack([sums[:first].sum(axis=0), sums[first:].sum(axis=0)])[:, :, :MOST_ARMS]
    arms = np.flatnonzero((parts[:, 1] >= _FEW).all(axis=0))
    limit = float(ndtri(1.0 - _BY_CHANCE / 2.0 / max(1, arms.size)))
    least, changes = state.setting.reward_range[0], list[Drift]()
    for arm in arms.tolist():
        (n, total, squares), (_, before_n, before_total, _), (_, lately_n, lately_total, _) = (
            parts[:, 1:, arm].sum(axis=0),
            *parts[:, :, arm],
        )
        before, lately = before_total / before_n, lately_total / lately_n
        variance = max(0.0, squares / n - (total / n) ** 2)
        change = normal_estimate(
            lately - before, math.sqrt(variance * (1.0 / before_n + 1.0 / lately_n))
        )
        is_clear = abs(change.value) > max(limit * change.se, 1e-12)
        changes.append(
            Drift(
                state.arms[arm],
                float(begin[first]),
                float(least + before),
                float(least + lately),
                Estimate(*map(float, change)),
                bool(is_clear),
            )
        )
    return sorted(changes, key=lambda each: -abs(each.change.value))
