"""ReadableBandit: all that can be asked of a bandit and its log, which changes neither."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from giro.bandit.alarms import Alarm, Past, alarms, as_many_as_count
from giro.bandit.event import (
    DECISION,
    KINDS,
    Decided,
    Decision,
    Event,
    Reported,
    Rewarded,
)
from giro.bandit.exchange import (
    events_table,
    write_events,
)
from giro.bandit.follower import Follower
from giro.bandit.found import Found, found
from giro.bandit.history import history
from giro.bandit.influence import RECENT, Influence, influences
from giro.bandit.state import BanditState
from giro.bandit.stores import Store
from giro.bandit.summary import (
    Apprenticeship,
    apprenticeship,
    summary,
    summary_html,
    table_collisions,
)
from giro.bandit.timeline import Drift, Timeline, drift, timeline
from giro.bandit.uplift import Uplift, uplift
from giro.checks import check, optional, whole
from giro.errors import BadParameter, UnknownDecision, UnknownName
from giro.kernels.hashed import Collisions
from giro.policy import Policy
from giro.progress import shown

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


_PART = 10_000  # events that are read at once
_TABLE_PART = 250  # events of a table that are converted at once: other threads wait meanwhile
_SHOWN = 10  # arms in the text of a bandit


class ReadableBandit:
    """What a bandit knows: its arms, decisions, events, and the reports about them.

    `Bandit` adds what changes it.
    """

    _store: Store
    _follower: Follower

    @property
    def _state(self) -> BanditState:
        return self._follower.state

    @property
    def policy(self) -> Policy:
        """The policy that chooses."""
        return self._state.setting.policy

    @property
    def setting(self) -> dict[str, Any]:
        """The parameters of the bandit, as plain data."""
        return self._state.setting.to_json()

    @property
    def name(self) -> str | None:
        """The name of the bandit, if it has one."""
        return self._state.setting.name

    @property
    def arms(self) -> list[str]:
        """The arms that can be chosen, in the order they were added.

        Of a bandit made without arms: those that were chosen, the last 10,000 of them.
        """
        state = self._state
        if state.setting.open_arms:
            return list(state.arms)
        return [state.arms[arm] for arm in state.active.tolist()]

    @property
    def n_decisions(self) -> int:
        """The number of decisions made."""
        return self._state.n_decisions

    @property
    def n_rewards(self) -> int:
        """The number of decisions with a reward, expired ones included."""
        return self._state.n_rewards

    @property
    def position(self) -> int:
        """The number of events of the log that this bandit has taken in.

        See `events`.
        """
        return self._state.position

    @property
    def lag(self) -> int:
        """The number of events in the log that this bandit has not taken in yet.

        Others have appended these. Asking begins to follow them, if no decision has.
        """
        self._follower.tend()
        return max(0, self._store.last() - self.position)

    def alarms(self) -> list[Alarm]:
        """Return signs in the recent past that somebody should look at this bandit.

        Each has a `kind` and a `text` with the way out. Kinds: rewards_stopped (far fewer than
        expected in the last hour, by the rewards for each decision in the day before),
        exploration_collapsed (the probabilities of recent decisions have nearly no entropy),
        choices_off (recent arms do not follow their probabilities, by a chi-square test), lagging
        (events that others append are taken in too late). This looks at the last 2,000 decisions
        whose probabilities are known.
        """
        lag, now = self.lag, self._follower.clock()
        with self._follower.lock:
            watch, position = self._state.counts.watch, self.position
        if watch.must_look_back:
            earlier = as_many_as_count(self._decisions_up_to(position))
            with self._follower.lock:
                watch.look_back(earlier)
        with self._follower.lock:
            past = Past(dict(watch.bins), list(watch.recent), now, lag)
        return alarms(past)

    def _decisions_up_to(self, position: int) -> Iterator[Decided]:
        """Yield the decisions up to a position in the log, the newest first."""
        while rows := self._store.latest(position + 1, _TABLE_PART, [DECISION]):
            yield from (event for _, event in rows if isinstance(event, Decided))
            position = rows[-1][0] - 1

    def decision(self, id: str) -> Decision:
        """Return an earlier decision."""
        decisions = self._store.find([id]) if isinstance(id, str) else {}
        if id not in decisions:
            raise UnknownDecision(id)
        return self._decision(decisions[id].decision)

    def look_up(self, id: str) -> Found:
        """Return an earlier decision with its reward, its reports and its context."""
        decisions = self._found([id]) if isinstance(id, str) else {}
        if id not in decisions:
            raise UnknownDecision(id)
        return decisions[id]

    def latest(self, n: int = 50, *, before: int | None = None) -> list[tuple[int, Found]]:
        """Return the newest decisions with their positions in the log, the last one first.

        Or the newest ahead of the position `before`. It looks at no more than 50,000 events.
        """
        rows = self._store.latest(self._end(n, before), n, [DECISION])
        decisions = self._found([event.id for _, event in rows if isinstance(event, Decided)])
        pairs = ((number, decisions.get(getattr(event, "id", ""))) for number, event in rows)
        return [(number, each) for number, each in pairs if each is not None]

    def _found(self, ids: Sequence[str]) -> dict[str, Found]:
        schema, decisions = self._state.schema, dict[str, Found]()
        for id, (event, reward, n_reports) in self._store.find(ids).items():
            reports = [report.value for report in self._store.reports(id)] if n_reports else []
            decisions[id] = found(self._decision(event), event, reward, reports, schema)
        return decisions

    def _end(self, n: int, before: int | None) -> int:
        """Return the position ahead of which to look for the newest events."""
        check("the newest events", whole(1), n=n)
        check("the newest events", optional(whole(1)), before=before)
        return self._store.last() + 1 if before is None else int(before)

    def pending(self) -> list[Decision]:
        """Return the decisions that wait for their reward, oldest first."""
        return [self._decision(event) for event in self._store.waiting(np.inf)]

    def summary(self) -> "pl.DataFrame":
        """Return a row for each arm with its decisions and rewards.

        Columns: `arm`, `active`, `decisions`, `rewards` (that came), `mean` of these with the 95 %
        interval `low` to `high` (Wilson's if all are the lowest or the highest, otherwise normal),
        and `last_day`: its share of the decisions of the last 24 hours.
        """
        with self._follower.lock:
            return summary(self._state, self._follower.clock())

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        with self._follower.lock:
            return summary_html(self._state)

    def plot(self, *, x: Literal["decisions", "time"] = "decisions") -> "Figure":
        """Return a figure of the arms' shares of the decisions, and of the rewards.

        Both are means of a twentieth of the decisions, from the first to the last, or of as many
        rewards. A reward belongs to the time of its decision; decisions without one are left out of
        the rewards. The six most frequent arms have a line, and the others share one. Where no arm
        is frequent, as among things that come once, there are only the rewards of all. The band is
        a 95 % interval of these. `x="time"` has dates. This reads the whole log, or what is left of
        it (`retain`), and takes as long as reading it. It needs `giro-bandits[plots]`.
        """
        from giro.plots import history_figure  # noqa: PLC0415  # quick start without matplotlib

        state = self._state
        with shown("giro reads the log", self.position) as task:
            past = history(self._rows(), [] if state.setting.open_arms else state.arms, task)
        return history_figure(past, x=x)

    def timeline(self, *, arms: int = 6, stretches: int = 60) -> Timeline:
        """Return how decisions and rewards went over time, counted while they came.

        Time is cut into at most so many `stretches` of equal length (those without decisions are
        left out), and there is a line for each of the most frequent `arms`, one for other arms
        together, and one for all. A reward belongs to the stretch of its decision. Nothing is read
        for this, and events that left the log are counted. Of a bandit with many arms the first
        1,000 are counted apart, and stretches are longer.
        """
        check("a timeline", whole(0), arms=arms)
        check("a timeline", whole(1), stretches=stretches)
        with self._follower.lock:
            return timeline(self._state, arms, stretches)

    def drift(self) -> list[Drift]:
        """Return for each arm its mean reward lately and before, the largest change first.

        Lately are the last stretches of `timeline` that hold a quarter of the rewards or less. An
        arm needs ten rewards in both. A change `is_clear` if one as large would be rare among all
        arms together without any (1 in 100). It may come from the world, or from a policy that
        takes the arm in other contexts than before.
        """
        with self._follower.lock:
            return drift(self._state)

    def uplift(self) -> Uplift | None:
        """Return an estimate of how much more the policy earns than its baseline.

        The baseline is the arm that is taken where the policy does not decide (`share` below 1).
        While there never was one, it is the first arm on offer. Rewards are weighted by inverse
        propensities. With the estimates comes the effective size of the samples behind them: with
        a few dozen, do not believe an interval. None without rewards of both, or while
        probabilities are not known.
        """
        with self._follower.lock:
            return uplift(self._state)

    def influences(self, *, arms: int = 6) -> list[Influence]:
        """Return which features make which arms likelier, the strongest of each arm first.

        The policy is asked for its probabilities in contexts of recent decisions, in which one
        feature at a time is changed: a number to its 90th percentile instead of its 10th, a word
        instead of the others. So this says what has been learned, whatever the policy is made of.
        It looks at so many `arms`, those chosen most lately. There are none where features are
        hashed, or where asking would change the policy (`giro`).
        """
        check("influences", whole(1), arms=arms)
        rows = self._store.rows(max(0, self._store.last() - RECENT), RECENT)
        events = [event for _, event in rows if isinstance(event, Decided)]
        return influences(events, self._follower, arms)

    def collisions(self) -> Collisions:
        """Return how many features share a column of the table, where the policy hashes them.

        If the share is high, more `bits` (as in `model=[hashed:bits=20]`) may predict better.
        """
        with self._follower.lock:
            return table_collisions(self._state)

    def apprenticeship(self) -> Apprenticeship:
        """Return an estimate of the policy's own rewards, where a baseline decides (`share`)."""
        with self._follower.lock:
            return apprenticeship(self._state)

    def __repr__(self) -> str:
        arms = self.arms
        more = f", and {len(arms) - _SHOWN:,} more" if len(arms) > _SHOWN else ""
        return (
            f"Bandit({arms[:_SHOWN]}{more}, {self.policy.text!r}: {self.n_decisions} decisions, "
            f"{self.n_rewards} rewards)"
        )

    def _decision(self, event: Decided) -> Decision:
        return Decision(event, event.names or self._state.names(event.arms))

    # -- the log -----------------------------------------------------------------------------

    def events(self, *, since: int | None = None, limit: int | None = None) -> "pl.DataFrame":
        """Return the log behind the position `since`, one row an event, in order.

        No more than `limit` events, or all of them. Of events that have left the log (`retain`) the
        numbers are missing; if `since` is given and events behind it have left, that is an error.

        Columns: `number` (the position), `kind` (setting, form, decision, report, reward, expired,
        arm_added, arm_retired, erased, rebuilt, left), `id` of the decision, `time`, `arm`,
        `reward` as reported, `report` (the name of a report), and of decisions `propensity` (of the
        chosen arm), `arms` (that could be chosen), `propensities` (of these), `context` (its
        features), `features` (of these arms), `own` (the probability before a baseline was mixed
        in) and `seen` (rewards learned before; of `left` the number up to which events have left).
        `setting` holds settings and forms. Decisions go on meanwhile.
        """
        import polars as pl  # noqa: PLC0415  # quick start: polars only when needed

        tables, chosen = [], dict[str, str]()
        for rows in self._parts(since or 0, _TABLE_PART, limit):
            if since is not None and rows[-1][0] - since != len(rows):
                self._say_gone(since)
            since = None if since is None else rows[-1][0]
            tables.append(self._table(rows, chosen))
        return pl.concat(tables or [events_table([], [], [], {})], rechunk=True)

    def latest_events(
        self, n: int = 100, *, before: int | None = None, kinds: Collection[str] = ()
    ) -> "pl.DataFrame":
        """Return the newest events as `events` has them, the last one first.

        Or the newest ahead of the position `before`, and of some `kinds` only. It looks at no more
        than 50,000 events.
        """
        for kind in kinds:
            if kind not in KINDS:
                raise UnknownName("kind of event", str(kind), known=KINDS)
        numbers = [number for number, kind in enumerate(KINDS) if kind in kinds]
        return self._table(self._store.latest(self._end(n, before), n, numbers), {})

    def event_parts(self) -> "Iterator[pl.DataFrame]":
        """Yield the table of `events` in parts of 250 rows, for those who write it elsewhere."""
        chosen = dict[str, str]()
        for rows in self._parts(0, _TABLE_PART):
            yield self._table(rows, chosen)
            chosen.clear()

    def _table(self, rows: Sequence[tuple[int, Event]], chosen: dict[str, str]) -> "pl.DataFrame":
        """Return events as rows. Arms of decisions that are known are in `chosen`."""
        numbers, events = [number for number, _ in rows], [event for _, event in rows]
        decided = {event.id: event for event in events if isinstance(event, Decided)}
        rewarded = {event.id for event in events if isinstance(event, Rewarded | Reported)}
        earlier = self._store.find([id for id in rewarded - decided.keys() if id not in chosen])
        known = decided | {id: each.decision for id, each in earlier.items()}
        chosen |= {id: self._decision(event).arm for id, event in known.items()}
        return events_table(events, self._state.arms, numbers, chosen)

    def _say_gone(self, since: int) -> NoReturn:
        base = self._store.base()
        raise BadParameter(
            f"the log retains events behind {base.position if base else 0}, got since={since}: "
            "those before have left; without since come all that are there"
        )

    def _rows(self) -> Iterator[tuple[int, Event]]:
        """Yield the events that are in the log now, with their positions."""
        for rows in self._parts(0, _PART):
            yield from rows

    def _parts(
        self, since: int, size: int, limit: int | None = None
    ) -> Iterator[list[tuple[int, Event]]]:
        """Yield events behind a position with their positions, some at a time."""
        end, left = self._store.last(), self._store.last() if limit is None else limit
        while since < end and left > 0:
            rows = [row for row in self._store.rows(since, min(size, left)) if row[0] <= end]
            if not rows:
                return
            yield rows
            since, left = rows[-1][0], left - len(rows)

    def write_events(self, path: str | os.PathLike[str], *, since: int | None = None) -> None:
        """Write the table of `events` to a file: .parquet, or .jsonl with a JSON object a line.

        Either holds checksums: `replay` and `giro.read_log` refuse a file that was damaged since.
        """
        write_events(self.events(since=since), Path(path))
