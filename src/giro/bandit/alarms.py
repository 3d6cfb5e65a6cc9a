"""Alarms: signs in the recent log of a bandit that somebody should look at it."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from giro.bandit.event import Decided

KINDS: Final = ("rewards_stopped", "exploration_collapsed", "choices_off", "lagging")
_BIN, _BINS, _HOUR = 300.0, 288, 12  # seconds of a bin, bins of a day and of an hour
_MOST, _MOST_NUMBERS = 2000, 200_000  # recent decisions, and the probabilities they have together
_FEWEST = 500  # decisions that say something about exploration
_EXPECTED = 20  # rewards that should have come before their absence means something
_COLLAPSED = 0.01  # of the entropy of a uniform choice
_BY_CHANCE = 1e-6  # alarms that are false, each time somebody looks
_TOO_FAR = 5000  # events
_CLASSES = 256  # arms that are counted apart


class Alarm(NamedTuple):
    """A sign that something is wrong: its kind, and a sentence with the way out."""

    kind: str  # one of `giro.bandit.alarms.KINDS`
    text: str  # what happened: the figures. The way out


class Watch:
    """The recent past that alarms look at, in bounded memory: it follows from the log."""

    def __init__(self, bins: Iterable[Sequence[int]] = (), *, is_restored: bool = False) -> None:
        """Begin with these bins of a snapshot: a number, decisions and rewards."""
        self.bins = {number: [decisions, rewards] for number, decisions, rewards in bins}
        self.recent: deque[Decided] = deque()
        self.must_look_back = is_restored  # there are decisions ahead of the recent ones
        self._numbers = 0

    def to_json(self) -> list[list[int]]:
        """Return the bins as plain data. The log has the recent decisions: see `look_back`."""
        return [[number, *counts] for number, counts in self.bins.items()]

    def look_back(self, events: Iterable["Decided"]) -> None:
        """Take in decisions ahead of those it knows, in their order. It may know some of them."""
        later = {event.id: event for event in self.recent}
        self.recent, self._numbers, self.must_look_back = deque(), 0, False
        for event in (*(each for each in events if each.id not in later), *later.values()):
            self._remember(event)

    def decided(self, event: "Decided") -> None:
        """Count a decision."""
        self._bin_of(event.time)[0] += 1
        self._remember(event)

    def _remember(self, event: "Decided") -> None:
        size = event.propensities.size
        if size < 2 or size < event.arms.size:
            return  # there was no choice, or its probabilities are not known
        self.recent.append(event)
        self._numbers += size
        self._keep_newest()

    def is_one_bin(self, first: float, last: float) -> bool:
        """Return whether times from a first to a last are counted together."""
        return first // _BIN == last // _BIN

    def decided_all(self, events: "Sequence[Decided]") -> None:
        """Count decisions of one bin."""
        self._bin_of(events[0].time)[0] += len(events)
        for event in events:
            size = event.propensities.size
            if size >= max(2, event.arms.size):
                self.recent.append(event)
                self._numbers += size
        self._keep_newest()

    def _keep_newest(self) -> None:
        recent = self.recent
        while len(recent) > _MOST or (self._numbers > _MOST_NUMBERS and len(recent) > 1):
            self._numbers -= recent.popleft().propensities.size

    def rewarded(self, time: float) -> None:
        """Count a reward that came."""
        self._bin_of(time)[1] += 1

    def _bin_of(self, time: float) -> list[int]:
        number = int(time // _BIN)
        counts = self.bins.get(number)
        if counts is None:
            counts = self.bins[number] = [0, 0]
            if len(self.bins) > _BINS:  # the first that came: a clock may have been wrong
                del self.bins[next(iter(self.bins))]
        return counts


def as_many_as_count(newest_first: Iterable["Decided"]) -> list["Decided"]:
    """Return the decisions that `Watch` has room for, in their order."""
    events, numbers = list["Decided"](), 0
    for event in newest_first:
        events.append(event)
        numbers += event.propensities.size
        if len(events) == _MOST or numbers >= _MOST_NUMBERS:
            break
    return events[::-1]


class Past(NamedTuple):
    """What alarms are worked out from, apart from the state that goes on meanwhile."""

    bins: dict[int, list[int]]
    recent: list[Any]  # decisions
    now: float
    lag: int


def alarms(past: Past) -> list[Alarm]:
    """Return the alarms that ring."""
    found_by = (_rewards_stopped, _exploration_collapsed, _choices_off, _lagging)
    texts = (look(past) for look in found_by)
    return [Alarm(kind, text) for kind, text in zip(KINDS, texts, strict=True) if text]


def _rewards_stopped(past: Past) -> str:
    """Compare the rewards for each decision in the last hour with those of the day before it."""
    last, before = np.zeros(2), np.zeros(2)
    newest = int(past.now // _BIN)
    for number, counts in past.bins.items():
        if newest - _BINS < number <= newest:
            part = last if number > newest - _HOUR else before
            part += counts
    expected = last[0] * before[1] / before[0] if before[0] else 0.0
    if expected < _EXPECTED or last[1] > expected / 10:
        return ""
    return (
        f"rewards have stopped coming: of about {expected:.0f} that were expected in the last "
        f"hour, {last[1]:.0f} came. See whether the program still reports them, and with the ids "
        "that it was given"
    )


def _exploration_collapsed(past: Past) -> str:
    """Look at the entropy of recent probabilities.

    Decisions in which one arm has exactly all of it are left out: a policy as `ucb1` never explores
    by chance, and still explores.
    """
    rows = [event.propensities for event in past.recent]
    chances = [row for row in rows if np.count_nonzero(row) > 1]
    if len(chances) < max(_FEWEST, len(rows) / 10):
        return ""
    mean = float(np.mean([_entropy(row) / np.log(row.size) for row in chances]))
    if mean >= _COLLAPSED:
        return ""
    return (
        f"exploration has collapsed: the probabilities of the last {len(chances):,} decisions have "
        f"less than {_COLLAPSED:.0%} of the entropy of chance, so hardly anything is learned of "
        "other arms. Unless the best arm is certain, make a new bandit with floor=0.01 or more, or "
        "with a policy for drift"
    )


def _entropy(row: np.ndarray) -> float:
    above = row[row > 0.0]
    return float(-(above * np.log(above)).sum())


def _choices_off(past: Past) -> str:
    """Compare how often arms were chosen with their probabilities, by a chi-square test.

    Arms without numbers are counted by how probable they were. Where probabilities change from
    decision to decision the test is too careful (its statistic has less variance), never too bold.
    """
    if not past.recent:
        return ""
    from scipy import stats  # noqa: PLC0415  # quick start

    classes = np.concatenate([_classes(event) for event in past.recent])
    chances = np.concatenate([event.propensities for event in past.recent])
    ends = np.cumsum([event.propensities.size for event in past.recent])
    positions = [event.position for event in past.recent]
    chosen = classes[ends - [event.propensities.size for event in past.recent] + positions]
    expected = np.bincount(classes, chances, minlength=_CLASSES)
    observed = np.bincount(chosen, minlength=_CLASSES)
    often = expected >= 5.0
    rare = stats.poisson.sf(observed[~often].sum() - 1, max(expected[~often].sum(), 1e-3))
    off = float((np.square(observed - expected)[often] / expected[often]).sum())
    usual = stats.chi2.sf(off, often.sum() - 1) if often.sum() > 1 else 1.0
    if min(rare, usual) >= _BY_CHANCE:
        return ""
    return (
        "choices do not follow their probabilities: chance alone would hardly make the last "
        f"{len(past.recent):,} decisions (p = {min(rare, usual):.1g}). Do not evaluate this log. "
        "Callers who try ids until an arm comes do this, and so do logs from elsewhere"
    )


def _classes(event: "Decided") -> np.ndarray:
    """Return the class in which each arm on offer is counted."""
    if event.names:
        return (event.propensities * 20).astype(np.int64)
    return event.arms % _CLASSES


def _lagging(past: Past) -> str:
    if past.lag <= _TOO_FAR:
        return ""
    return (
        f"this process is behind: {past.lag:,} events of the log are not taken in yet, so it "
        "decides without the newest rewards. It needs more processor time, fewer events, or a "
        "cheaper policy"
    )
