"""Metrics: figures of this service, in the text format of Prometheus.

Each process counts the requests that it answers itself. With several, each keeps its counts among
the records of the store every few seconds, so any of them can show all, with a label `worker`. What
is told of bandits follows from their log, so every process tells the same, apart from its lag.
These numbers are gauges: after an erasure, or in a process that is behind, they are lower.
"""

import bisect
import os
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from giro import Bandit, Contradiction, UnknownDecision

KIND = "metrics"
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
KEPT = 30.0  # seconds for which the counts of a process that ended are shown
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_MOST_ARMS = 50  # of a bandit that are shown, those chosen most
_REFUSED = {  # why, by status
    400: "malformed",
    401: "key",
    403: "scope",
    404: "missing",
    405: "method",
    408: "slow",
    413: "size",
    422: "invalid",
    429: "rate",
    431: "size",
    503: "busy",
}
ALARMS = ("rewards_stopped", "exploration_collapsed", "choices_off", "lagging")
_ABOUT = {
    "giro_requests_total": ("counter", "Requests that were answered, by route and status."),
    "giro_refused_total": ("counter", "Requests that were refused, by the reason."),
    "giro_request_seconds": ("histogram", "Seconds from a request to its answer."),
    "giro_commit_seconds": ("histogram", "Seconds in which a group is decided or learned, kept."),
    "giro_reports_refused_total": ("counter", "Rewards that came late, or for no decision."),
    "giro_decisions": ("gauge", "Decisions in the log."),
    "giro_rewards": ("gauge", "Decisions with a reward, expired ones included."),
    "giro_pending": ("gauge", "Decisions that wait for their reward."),
    "giro_queue": ("gauge", "Requests that wait for a thread in this process."),
    "giro_lag_events": ("gauge", "Events in the log that this process has not taken in."),
    "giro_ready": ("gauge", "1 if the policy decides, 0 if chance does until it is compiled."),
    "giro_arm_share": ("gauge", "Share of an arm in the decisions of the last 24 hours."),
    "giro_alarm": ("gauge", "1 while an alarm rings; the summary of the bandit has its sentence."),
}


class Histogram(msgspec.Struct):
    """How many durations are in each bucket, and their sum."""

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect.bisect_left(_BOUNDS, seconds)] += 1
        self.total += seconds


class Counts(msgspec.Struct):
    """The counts of one process."""

    worker: str
    requests: dict[str, int] = {}  # by method, route and status
    reports: dict[str, int] = {}  # by the reason of the refusal
    seconds: Histogram = msgspec.field(default_factory=Histogram)
    commits: dict[str, Histogram] = {}  # by the kind of work


class Metrics:
    """Counts the work of this process."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.counts = Counts(str(os.getpid()))
        self.name = f"{socket.gethostname()}/{os.getpid()}"  # of the record of these counts
        self._requests: Counter[tuple[str, str, int]] = Counter()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests[method, route, status] += 1
        self.counts.seconds.add(seconds)

    def committed(self, kind: str, seconds: float) -> None:
        """Count a group of decisions or rewards."""
        self.counts.commits.setdefault(kind, Histogram()).add(seconds)

    @contextmanager
    def reports(self) -> Iterator[None]:
        """Count a report of a reward if it is refused."""
        try:
            yield
        except (UnknownDecision, Contradiction) as error:
            reason = "unknown" if isinstance(error, UnknownDecision) else "contradiction"
            if isinstance(error, Contradiction) and error.is_late:
                reason = "late"
            self.counts.reports[reason] = self.counts.reports.get(reason, 0) + 1
            raise

    def now(self) -> Counts:
        """Return the counts up to now."""
        self.counts.requests = {" ".join(map(str, k)): n for k, n in self._requests.items()}
        return self.counts


class Sample(NamedTuple):
    """A number with its name and labels."""

    name: str
    value: float
    labels: Mapping[str, str]


def samples_of(counts: Counts) -> Iterator[Sample]:
    """Yield the counts of one process."""
    worker, refused = {"worker": counts.worker}, Counter[str]()
    for key, n in counts.requests.items():
        method, rest = key.split(" ", 1)
        path, status = rest.rsplit(" ", 1)
        labels = worker | {"method": method, "route": path, "status": status}
        yield Sample("giro_requests_total", n, labels)
        if int(status) in _REFUSED and (path, status) != ("/readyz", "503"):  # it refuses nobody
            refused[_REFUSED[int(status)]] += n
    for reason in dict.fromkeys(_REFUSED.values()):
        yield Sample("giro_refused_total", refused[reason], worker | {"reason": reason})
    for reason in ("unknown", "late", "contradiction"):
        n = counts.reports.get(reason, 0)
        yield Sample("giro_reports_refused_total", n, worker | {"reason": reason})
    yield from _histogram("giro_request_seconds", counts.seconds, worker)
    for kind, histogram in counts.commits.items():
        yield from _histogram("giro_commit_seconds", histogram, worker | {"kind": kind})


def _histogram(name: str, histogram: Histogram, labels: dict[str, str]) -> Iterator[Sample]:
    so_far = 0
    for bound, count in zip((*_BOUNDS, "+Inf"), histogram.counts, strict=True):
        so_far += count
        yield Sample(f"{name}_bucket", so_far, labels | {"le": str(bound)})
    yield Sample(f"{name}_sum", histogram.total, labels)
    yield Sample(f"{name}_count", so_far, labels)


def samples_of_bandit(bandit: Bandit, waiting: int) -> list[Sample]:
    """Return the figures of a bandit. This may wait for its store."""
    name = {"bandit": str(bandit.name)}
    decisions, rewards = bandit.n_decisions, bandit.n_rewards
    arms = bandit.summary().sort("decisions", descending=True).head(_MOST_ARMS)
    ringing = {alarm.kind for alarm in bandit.alarms()}
    numbers = {
        "giro_decisions": decisions,
        "giro_rewards": rewards,
        "giro_pending": decisions - rewards,
        "giro_queue": waiting,
        "giro_lag_events": bandit.lag,
        "giro_ready": bandit.is_ready,
    }
    return [
        *(Sample(key, float(value), name) for key, value in numbers.items()),
        *(Sample("giro_alarm", kind in ringing, name | {"alarm": kind}) for kind in ALARMS),
        *(
            Sample("giro_arm_share", row["last_day"] or 0.0, name | {"arm": row["arm"]})
            for row in arms.iter_rows(named=True)
        ),
    ]


def exposition(samples: Iterable[Sample]) -> bytes:
    """Return samples in the text format, those of a name together."""
    by_name: dict[str, list[str]] = {name: [] for name in _ABOUT}
    for name, value, labels in samples:
        family = name if name in _ABOUT else name.rpartition("_")[0]
        words = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        by_name[family].append(f"{name}{{{words}}} {float(value):.12g}")
    lines = []
    for name, own in by_name.items():
        kind, text = _ABOUT[name]
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *own] if own else []
    return "\n".join([*lines, ""]).encode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def counts_in(plain: Any) -> Counts:
    """Return the counts in a record."""
    return msgspec.convert(plain, Counts)
