"""Bandit: arms by name, decide now, reward later, in memory or in a store that survives."""

import asyncio
import base64
import contextlib
import gc
import itertools
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeAlias

import numpy as np

from giro.bandit.deciding import Encoded, Request, decided, encoded, sampled
from giro.bandit.event import (
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Decision,
    Event,
    Left,
    Reported,
    Rewarded,
)
from giro.bandit.exchange import (
    check_event,
    events_in,
    events_of,
    events_table,
    read_events,
    write_events,
)
from giro.bandit.file import packed, read_bandit, snapshot_of, store_of, write_bandit
from giro.bandit.follower import GROUP, Follower
from giro.bandit.retention import copy_log
from giro.bandit.rewarding import reports, still_wanted
from giro.bandit.setting import Setting
from giro.bandit.state import BanditState
from giro.bandit.stores import MemoryStore, Store, Taken, check_ids, names_in, opened
from giro.bandit.summary import Apprenticeship, apprenticeship, summary
from giro.checks import NOT_NEGATIVE, WORD, check, is_word, optional
from giro.errors import BadParameter, GiroError
from giro.features import Arms, Given
from giro.features.schema import MAX_COLUMNS, fitted
from giro.kernels.hashed import Collisions, collisions
from giro.live import LivePolicy
from giro.offer import Offer, case_of
from giro.policy import Policy, arrays_of

if TYPE_CHECKING:
    import polars as pl

    from giro.evaluation.log import Log

Ids: TypeAlias = Callable[[], str] | Literal["random", "numbered"]

_LOGGER = logging.getLogger("giro")
_PART = 10_000  # events that are read at once
_SHOWN = 10  # arms in the text of a bandit
_NONE_NEW = ((), ())


class Bandit:
    """Chooses among named arms, and learns from rewards that come minutes or days later.

    >>> bandit = Bandit(["red", "green"], "giro:a=1/3", seed=7)
    >>> decision = bandit.decide()
    >>> decision.arm in ("red", "green"), decision.propensity
    (True, 0.5)
    >>> bandit.reward(decision.id, 1.0)

    Without `arms` they come with each decision, under any names, and are known by their features.
    `policy` is any policy of giro or its text; `default` is Giro, or with contexts or features of
    arms RandUCB around several models (see `giro.policies.Default`). The other parameters:

    - `seed`: the same seed and calls give the same decisions, if they have the same `ids`.
    - `reward_range`: the lowest and the highest reward there can be; policies see them as 0 and 1.
    - `rounds`: how many rewards are expected. Only a few policies plan with it (as ε-greedy with
      `share`) and they need it; when that many came, they plan for twice as many.
    - `propensities`: whether each decision is kept with the probability of its arm. Many policies'
      probabilities are known exactly, and the arm is drawn from them. Otherwise the policy is asked
      until it chooses the same arm again, which gives the probability's inverse without bias.
    - `votes`: instead, where probabilities are not known, ask the policy this many times and draw
      the arm from the shares of its answers, so that all arms' probabilities are known; 100 where a
      floor or a baseline is mixed in.
    - `floor`: the probability of taking any arm instead of the policy's.
    - `features`: how names in contexts become columns of numbers: for each "number", a list of
      words (one column each, and one for all other words), or "hashed:32" (words to 32 columns).
      Names that it does not list are numbers, or words that are hashed to 16 columns. They may come
      at any time and are learned from then on; any name may be missing in a context, or be None.
    - `max_columns`: the most columns of contexts, and of features of arms. Names beyond are not
      used, with one warning.
    - `interactions`: which features of the context are multiplied by which of the arm, as
      `["user*item"]`; by default all by all. Each part is a feature (`user.age`), a mapping with
      all that is in it (`user`), or everything: `context` and `arm`.
    - `standardise`: whether the policy sees numbers of contexts and arms less their mean and over
      their standard deviation, both of the rewards learned so far; a missing number is then the
      mean, and otherwise 0. The log holds what was given.
    - `first_decisions`: how many decisions an arm gets before its first reward is known; then it is
      left out until that comes (or it expires), provided that another arm has a reward. Most
      policies would take a new arm every time until then. None means no limit.
    - `share`: the share of decisions made by the policy; in the others the baseline is taken (see
      `decide`). With 0 the policy is an apprentice: it learns from the rewards of the baseline,
      and `apprenticeship` estimates how it would have done.
    - `reward_wait`: seconds (or a timedelta) after which a decision without a reward gets
      `default_reward`: 0, or the lowest reward if 0 is not in the range, unless you say otherwise.
    - `reward_aggregation`: what a second report for the same decision does. "only": the same value
      changes nothing, another is an error. "first": it is ignored. "last" and "sum": the reward is
      the last report or the sum of all (no more than the range allows) when `reward_wait` is over,
      and learned then.
    - `name`, `store`: where the log is kept: in memory, or durably under this name in
      `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE` (`giro-bandits[postgres]`). A bandit
      that already exists is opened as it is. Any number of threads, processes and machines may
      work on it at once: each decides from its own state, which follows the log. Calls return
      when their events are durable.
    - `sync_arms`: whether a bandit that is in the store gets the arms that it does not have yet,
      and retires those that are not listed any more. Otherwise another list of arms is an error.
    - `retain`: how long events stay in the log, a timedelta or a number of rewards. The state keeps
      what it learned from those that leave (up to a quarter later), see `docs/production.md`.
    - `clock`: where the time comes from, in seconds; `time.time` by default.
    - `ids`: where ids of decisions come from. A decision draws its randomness from its id. By
      default ids are random, so that no two bandits ever give the same. With "numbered" they are 0,
      1, 2, ..., and the same calls give the same decisions, for examples and tests. Or a function.

    A bandit is its log of events (`events`): everything else follows from it. Arms that come and
    go, and decisions among some of them, cost nothing extra.
    """

    def __init__(
        self,
        arms: Iterable[str] | None = None,
        policy: Policy | str = "default",
        *,
        seed: int = 0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        rounds: int | None = None,
        propensities: bool = True,
        votes: int | None = None,
        floor: float | None = None,
        features: Mapping[str, Any] | None = None,
        interactions: Sequence[str] | None = None,
        max_columns: int = MAX_COLUMNS,
        standardise: bool = True,
        first_decisions: int | None = 10,
        share: float = 1.0,
        reward_wait: float | timedelta | None = None,
        default_reward: float | None = None,
        reward_aggregation: str = "only",
        name: str | None = None,
        store: str | os.PathLike[str] | None = None,
        sync_arms: bool = False,
        retain: int | timedelta | None = None,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
    ) -> None:
        """Check the parameters, and make the bandit or open an existing one as it is."""
        setting = Setting(
            Policy.parse(policy),
            seed=seed,
            reward_range=reward_range,
            rounds=rounds,
            propensities=propensities,
            votes=votes,
            floor=floor,
            features=features,
            name=name,
            first_decisions=first_decisions,
            standardise=standardise,
            share=share,
            reward_wait=_seconds(reward_wait),
            default_reward=default_reward,
            reward_aggregation=reward_aggregation,
            interactions=interactions,
            open_arms=arms is None,
            max_columns=max_columns,
            **_retained(retain),
        )
        names = [] if arms is None else checked_names(arms)
        log: Store = MemoryStore() if store is None else opened(store, name)
        if log.last() == 0:
            began = Began(clock(), json.dumps(setting.to_json()))
            with contextlib.suppress(Taken):  # another process has just made it
                log.append([began, *(ArmAdded(clock(), arm) for arm in names)], expected=0)
        self._open(log, setting.policy, clock, ids)
        if store is not None:
            self._check_same(setting)
            self._check_arms(names, sync=sync_arms)

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        name: str,
        policy: Policy | str | None = None,
        *,
        retain: int | timedelta | None = None,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
    ) -> Self:
        """Return the bandit that is kept in a store under this name.

        A `policy` that is given takes the place of the one at work, in all processes, and learns
        all rewards that the log still has; it must be given again if it holds Python objects.
        `retain` replaces how long events stay in the log.
        """
        if name not in names_in(store):
            raise BadParameter(f"the store has no bandit '{name}'; it has {names_in(store)}")
        return cls._of(opened(store, name), policy, clock, ids, retain)

    @classmethod
    def _of(
        cls,
        store: Store,
        policy: Policy | str | None,
        clock: Callable[[], float],
        ids: Ids,
        retain: int | timedelta | None = None,
    ) -> Self:
        bandit = cls.__new__(cls)
        bandit._open(store, policy, clock, ids)
        before = setting = bandit._state.setting
        if retain is not None:
            none = {"retain_rewards": None, "retain_seconds": None}
            setting = replace(setting, **(none | _retained(retain)))
        is_other = setting.policy.text != bandit._state.logged_policy
        if is_other or setting != before:  # the log says what is at work
            bandit._follower.append([Began(clock(), json.dumps(setting.to_json()))])
        return bandit

    def _open(
        self, store: Store, policy: Policy | str | None, clock: Callable[[], float], ids: Ids
    ) -> None:
        self._store, self._clock = store, checked_clock(clock)
        self._follower = Follower(store, policy, self._clock)
        self._new_id = self._source_of(ids)

    @property
    def _state(self) -> BanditState:
        return self._follower.state

    def _source_of(self, ids: Ids) -> Callable[[], str]:
        if callable(ids):
            return ids
        if ids not in ("random", "numbered"):
            raise BadParameter(f"ids is random, numbered or a function, got {ids!r}")
        if ids == "random":
            return _random_id
        if self._store.shared:
            raise BadParameter("others may use a store, too: ids in it are random, or a function's")
        numbers = (str(number) for number in itertools.count(self._state.n_decisions))
        return (number for number in numbers if not self._store.find([number])).__next__

    def _check_same(self, given: Setting) -> None:
        """Check that a bandit that was there is the one asked for."""
        wanted, kept = given.to_json(), self._state.setting.to_json()
        kept["policy"] = self._state.logged_policy
        for key in wanted.keys() - {"giro"}:
            if wanted[key] != kept[key]:
                self.close()
                raise BadParameter(
                    f"the bandit '{given.name}' in the store has {key}={kept[key]!r}, got "
                    f"{wanted[key]!r}; Bandit.open(store, name) opens it as it is, and "
                    "Bandit.open(store, name, policy) with another policy"
                )

    def _check_arms(self, names: Sequence[str], *, sync: bool) -> None:
        """Check that a bandit that was there has these arms, or add and retire arms."""
        new = [name for name in names if name not in self.arms]
        gone = [name for name in self.arms if name not in names and names]
        if not (new or gone):
            return
        if not sync:
            self.close()
            raise BadParameter(
                f"the bandit '{self.name}' in the store has other arms: new are {new}, missing are "
                f"{gone}; sync_arms=True adds and retires them, Bandit.open(store, name) opens it "
                "as it is"
            )
        for name in new:
            self.add_arm(name)
        for name in gone:
            self.retire_arm(name)

    def keep(self) -> None:
        """Settle rewards whose waiting is over and keep a snapshot, as one process does for all.

        It is done by itself every second or so, by one of the processes on a store; without a store
        while decisions and rewards come. Call it to have it done now.
        """
        self._follower.keep()

    def close(self) -> None:
        """Close the store.

        If this process tends the log, it keeps a snapshot first.
        """
        self._follower.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a bandit cannot be pickled or copied: save it to a file, or keep it in a store and "
            "open that in the other process"
        )

    # -- asking ------------------------------------------------------------------------------

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

    def decision(self, id: str) -> Decision:
        """Return an earlier decision."""
        decisions = self._store.find([id]) if isinstance(id, str) else {}
        if id not in decisions:
            raise BadParameter(f"no decision has the id {id!r}")
        return self._decision(decisions[id].decision)

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
            return summary(self._state, self._clock())

    def collisions(self) -> Collisions:
        """Return how many features share a column of the table, where the policy hashes them.

        If the share is high, more `bits` (as in `model=[hashed:bits=20]`) may predict better.
        """
        with self._follower.lock:
            live = self._state.live
            arrays = {} if live is None else arrays_of(live.state) or {}
            tables = [array for path, array in arrays.items() if path.endswith("table.squares")]
            if not tables:
                raise BadParameter(f"{self.policy} has no table of hashed features, or is not used")
            return collisions(tables[0])

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

    # -- deciding ----------------------------------------------------------------------------

    def decide(
        self,
        context: Given = None,
        *,
        arms: Arms = None,
        id: str | None = None,
        baseline: str | None = None,
    ) -> Decision:
        """Return a decision on the arm to take now.

        `context` is what is known beforehand: a list of numbers, or a mapping of names to numbers
        and words, which may hold other mappings and lists. Names may be missing, and new ones may
        come; lists of numbers always have the same length. `arms` restricts the choice to some of
        the active arms for this once; a mapping of their names to what is known of each (in the
        form of a context) lets policies that can learn one model of all arms.
        New arms of which `first_decisions` are under way are left out, unless none of the others
        has a reward. `id` is your own name for the decision, such as that of a request; asked
        again with the same id and request, the bandit returns the same decision. `baseline` is the
        arm to take where the policy does not decide (`share`), by default the first of `arms`.
        """
        return self._decided_once([Request(id, context, arms, baseline)])[0]

    def decide_many(
        self, contexts: Iterable[Given] | int, *, arms: Arms = None, baseline: str | None = None
    ) -> list[Decision]:
        """Return a decision for each context, or this many without contexts.

        `contexts` is a list, a DataFrame whose rows are contexts, or a number. On an error, none is
        made. As with separate calls of `decide`, none can learn from the others.
        """
        self._follower.tend()
        requests = [Request(None, each, arms, baseline) for each in _each_context(contexts)]
        return self._decided(requests) if requests else []

    async def decide_async(self, context: Given = None, **options: Any) -> Decision:
        """Return the decision of `decide`, without keeping an event loop from other work.

        It runs in a thread of the loop's pool. Calls that wait for a store at the same time share
        its commits, as those of threads do.
        """
        return await asyncio.to_thread(self.decide, context, **options)

    async def rank_async(self, context: Given = None, **options: Any) -> list[Decision]:
        """Return the decisions of `rank`, as `decide_async` does."""
        return await asyncio.to_thread(self.rank, context, **options)

    async def reward_async(self, id: str, value: float) -> None:
        """Report a reward as `reward` does, without keeping an event loop from other work."""
        await asyncio.to_thread(self.reward, id, value)

    def rank(
        self,
        context: Given = None,
        *,
        arms: Arms = None,
        slots: int | Sequence[Mapping[str, Any]],
        id: str | None = None,
    ) -> list[Decision]:
        """Return a decision for each slot, from first to last, without choosing an arm twice.

        On an error, none is made. The policy fills each slot from the arms that are left, so the
        propensity of an arm is that given the slots before. Each decision has its own id to report
        its reward under. With an `id` of yours these are `id/0`, `id/1`, ..., and the same request
        again gets the same ranking. `slots` is the number of slots, or a list of their features,
        which are added to the context. `context` and `arms` are as in `decide`. An apprentice
        (`share`) fills the slots with the first arms.
        """
        of_slots: Sequence[Mapping[str, Any] | None]
        if isinstance(slots, int | np.integer) and not isinstance(slots, bool) and slots > 0:
            of_slots = [None] * int(slots)
        elif isinstance(slots, Sequence) and not isinstance(slots, str) and len(slots) > 0:
            of_slots = slots
        else:
            raise BadParameter(f"slots is a number > 0, or a list of their features, got {slots!r}")
        check("a ranking", optional(WORD), id=id)
        n_arms = self._state.asked(arms).size
        if len(of_slots) > n_arms:
            raise BadParameter(f"there are {len(of_slots)} slots for {n_arms} arms")
        return self._decided_once(
            [
                Request(id and f"{id}/{number}", _joined(context, slot), arms, None, number > 0)
                for number, slot in enumerate(of_slots)
            ]
        )

    def _decided_once(self, requests: Sequence[Request]) -> list[Decision]:
        """Return a decision for each request, those that were made before if they have ids."""
        self._follower.tend()
        if requests[0].id is None:
            return self._decided(requests)
        check_ids([request.id for request in requests])
        made_before = self._made_before(requests)
        if made_before is not None:
            return made_before
        try:
            return self._decided(requests)
        except Taken:  # by somebody else, at the same moment
            made_before = self._made_before(requests)
            if made_before is None:
                raise
            return made_before

    def _made_before(self, requests: Sequence[Request]) -> list[Decision] | None:
        """Return the decisions with these ids, which were asked for by the same requests."""
        ids = [str(request.id) for request in requests]
        decisions = self._store.find(ids)
        if not decisions:
            return None
        for id, request in zip(ids, requests, strict=True):
            digest = decisions[id].decision.request if id in decisions else b"another"
            if digest and digest != request.digest():
                raise BadParameter(f"the decision '{id}' was asked for by another request")
        return [self._decision(decisions[id].decision) for id in ids]

    def _decided(self, requests: Sequence[Request]) -> list[Decision]:
        parts = self._encoded(requests)
        follower, events = self._follower, list[Decided]()
        try:
            with follower.lock:
                self._make(parts, events)
                if not self._store.shared:
                    follower.append(events)
            if self._store.shared:
                follower.append(events)
        except BaseException:
            follower.undo(events)
            raise
        return [self._decision(event) for event in events]

    def _encoded(self, requests: Sequence[Request]) -> list[Encoded]:
        """Return all requests as numbers.

        Those that bring new features are encoded again.
        """
        follower = self._follower
        schema = self._state.schema
        if schema is None:
            schema = follower.formed([request.context for request in requests], requests[0].arms)
        if len(requests) == 1:
            part = encoded(requests[0], self._state, schema)
            if part.rows.new == _NONE_NEW:
                return [part]
        parts: list[Encoded] = []
        for request in requests:
            is_same = request.follows and request.context is parts[-1].request.context
            part = (
                parts[-1]._replace(request=request)
                if is_same
                else encoded(request, self._state, schema)
            )
            parts.append(part)
        new = [part.rows.new for part in parts]
        if not any(map(any, new)):
            return parts
        sides = tuple(tuple(itertools.chain(*side)) for side in zip(*new, strict=True))
        larger = follower.grown(schema, sides)
        if larger is schema:
            return parts
        return [encoded(request, self._state, larger) for request in requests]

    def _make(self, parts: Sequence[Encoded], events: list[Decided]) -> None:
        """Add a decision for each request.

        Other decisions count it until it is in the log.
        """
        state = self._state
        if state.broken:
            self._follower.begin_again()
            state = self._state
        make_ready(state, parts[0])
        is_alone = len(parts) == 1 and not self._store.shared
        for part in parts:
            id = self._new_id() if part.request.id is None else part.request.id
            taken = events if part.request.follows else ()
            event = decided(part, state, id, self._clock(), taken=taken)
            events.append(event)
            if not is_alone:
                state.under_way(event)

    # -- rewarding ---------------------------------------------------------------------------

    def reward(self, id: str, value: float) -> None:
        """Report a reward of a decision, in the units of `reward_range`.

        Rewards come in any order. The same report again changes nothing; another value for the same
        decision is an error unless `reward_aggregation` says otherwise, as is an unknown id, and
        then nothing changes either.
        """
        self._reward_all([(id, value)])

    def reward_many(self, rewards: Mapping[str, float] | Iterable[tuple[str, float]]) -> None:
        """Report several rewards, which are learned in this order.

        On an error, none of them counts.
        """
        self._reward_all(list(rewards.items() if isinstance(rewards, Mapping) else rewards))

    def _reward_all(self, pairs: Sequence[tuple[str, float]]) -> None:
        self._follower.tend()
        setting = self._state.setting
        events = reports(pairs, setting, self._clock())
        while events:
            try:
                return self._follower.append(events)
            except Taken:
                decisions = self._store.find([event.id for event in events])
                events = still_wanted(events, decisions, setting)

    def expire(self, older_than: float | timedelta, reward: float | None = None) -> list[Decision]:
        """Give a default reward to decisions that never got one, and return these decisions.

        Applies to decisions at least `older_than` seconds old. The default (`default_reward`
        unless it is given here) counts like a reward that came now; a later report of another value
        is an error. With `reward_wait` this is done by itself.
        """
        age = _seconds(older_than)
        check("expire", NOT_NEGATIVE, older_than=age)
        setting, now = self._state.setting, self._clock()
        value = setting.aggregated([]) if reward is None else setting.checked_reward(reward)
        old = self._store.waiting(now - age)
        self._follower.append_waiting([Rewarded(event.id, now, value, True) for event in old])
        return [self._decision(event) for event in old]

    # -- arms --------------------------------------------------------------------------------

    def add_arm(self, name: str) -> None:
        """Add an arm, or bring a retired one back with its past.

        A new arm is explored from the start. While no reward of a new arm is known, it gets no more
        than `first_decisions` decisions.
        """
        word = checked_names([name])[0]
        if self._state.setting.open_arms:
            raise BadParameter("this bandit was made without arms: they come with each decision")
        if word in self.arms:
            raise BadParameter(f"there already is an arm '{word}'")
        self._follower.append([ArmAdded(self._clock(), word)])

    def retire_arm(self, name: str) -> None:
        """Never choose an arm again.

        Its past stays, and rewards under way are still accepted.
        """
        with self._follower.lock:
            arm = self._state.active_arm(name)
            if self._state.active.size == 1:
                raise BadParameter(f"'{name}' is the last arm: add another before it retires")
        self._follower.append([ArmRetired(self._clock(), self._state.arms[arm])])

    # -- others' data, and people's ----------------------------------------------------------

    def learn_from(self, log: "Log") -> int:
        """Learn the decisions of another system, and return how many: a warm start.

        `log` is what `giro.read_log` returns for a table, a file or another bandit's events. Arms
        that are not known are added; a bandit made without arms takes those of each event. Columns
        keep their names, so that decisions may have contexts of the same names afterwards. The
        decisions go into this bandit's own log, with their propensities and rewards, under ids that
        start with `log-`.
        """
        with self._follower.lock:
            first, pairs = events_of(log, self._state, self._clock())
        for begin in range(0, len(pairs), GROUP):
            self._follower.append([*first, *pairs[begin : begin + GROUP]])
            first = []
        return len(pairs) // 2

    def erase(self, ids: Iterable[str]) -> int:
        """Remove these decisions for good, and return how many events are gone.

        Their contexts, arms, rewards and ids leave the log and its snapshots, and all processes
        learn the rest again, as if these decisions had never been. Ids that are not known are
        passed over. Files saved or exported before are yours to delete.
        """
        store, words = self._store, [str(id) for id in ids]
        if store.shared:
            gone = store.erase(words, self._clock())
            self._follower.follow()
            return gone
        with self._follower.lock:
            gone = store.erase(words, self._clock())
            if gone:
                self._follower.begin_again()
        return gone

    # -- the log and files -------------------------------------------------------------------

    def events(self, *, since: int | None = None) -> "pl.DataFrame":
        """Return the log behind the position `since`, one row an event, in order.

        Of events that have left the log (`retain`) the numbers are missing; if `since` is given and
        events behind it have left, that is an error.
        Columns: `number` (the position), `kind` (setting, form, decision, report, reward, expired,
        arm_added, arm_retired, erased, rebuilt, left), `id` of the decision, `time`, `arm`,
        `reward` as reported, and of decisions `propensity` (of the chosen arm), `arms` (that could
        be chosen), `propensities` (of these), `context` (its features), `features` (of these arms),
        `own` (the probability before a baseline was mixed in) and `seen` (rewards learned before;
        of `left` the number up to which events have left). `setting`
        holds settings and forms. Decisions go on meanwhile.
        """
        rows = list(self._rows(since or 0))
        numbers, whole = [number for number, _ in rows], [event for _, event in rows]
        base = max((event.until for event in whole if isinstance(event, Left)), default=0)
        if since is not None and since < base:
            raise BadParameter(
                f"the log retains events behind {base}, got since={since}: those before have left; "
                "without since come all that are there"
            )
        decided = {event.id for event in whole if isinstance(event, Decided)}
        before = {event.id for event in whole if isinstance(event, Rewarded | Reported)} - decided
        earlier = self._store.find(list(before))
        chosen = {id: self._decision(each.decision).arm for id, each in earlier.items()}
        return events_table(whole, self._state.arms, numbers, chosen)

    def _rows(self, since: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield the events that are in the log now, with their positions."""
        end = self._store.last()
        while since < end:
            rows = self._store.rows(since, _PART)
            yield from (row for row in rows if row[0] <= end)
            since = rows[-1][0] if rows else end

    def write_events(self, path: str | os.PathLike[str], *, since: int | None = None) -> None:
        """Write the table of `events` to a file: .parquet, or .jsonl with a JSON object a line.

        Either holds checksums: `replay` and `giro.read_log` refuse a file that was damaged since.
        """
        write_events(self.events(since=since), Path(path))

    @classmethod
    def replay(
        cls,
        events: "pl.DataFrame | str | os.PathLike[str]",
        policy: Policy | str | None = None,
        *,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
    ) -> Self:
        """Return the bandit with this log, in memory.

        `events` is a table from `events` or a file from `write_events`. A `policy` that is given
        takes the place of the one that made the log: it learns the same rewards. It must be given
        if it holds Python objects (a function, a scikit-learn estimator), which no log can hold.
        """
        store, state = MemoryStore(), BanditState(policy)
        for event in events_in(read_events(events)):
            try:
                check_event(event, state)
                store.append([event])
                state.apply([event], store.find)
            except (GiroError, KeyError, TypeError, ValueError) as error:
                raise BadParameter(
                    f"event {store.last() + 1} does not follow from those before: {error}"
                ) from error
        return cls._of(store, policy, clock, ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bandit to a file, whole or not at all: a crash leaves the old file or the new.

        The file holds the log, and the state as arrays. Others can decide while it is written.
        """
        store = self._store
        self._follower.know_behaviour()
        if isinstance(store, MemoryStore):
            with self._follower.lock:
                content = packed(store, self._state.snapshot())
        else:
            with self._follower.lock:
                snapshot = self._state.snapshot()
            content = packed(MemoryStore.holding(self._rows(), self._store.base()), snapshot)
        write_bandit(Path(path), content)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        policy: Policy | str | None = None,
        *,
        name: str | None = None,
        store: str | os.PathLike[str] | None = None,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
    ) -> Self:
        """Return the bandit in a file written by `save`, ready to go on where it was.

        A file that is damaged, of another kind or of a newer giro is a `BadFile`. `policy` as in
        `replay`. The state in the file is used if this giro behaves as the one that wrote it; if
        not, or if the policy is another or holds Python objects, all rewards are learned again.
        With a `store` the log is copied there, under a `name` that is not taken.
        """
        content = read_bandit(Path(path))
        memory = store_of(content)
        memory.kept = snapshot_of(content)
        bandit = cls._of(memory, policy, clock, ids)
        if store is None:
            return bandit
        if name in names_in(store):
            raise BadParameter(f"the store already has a bandit '{name}'")
        target = opened(store, name)
        copy_log(bandit._store, target, clock())
        return cls._of(target, bandit.policy, clock, ids)

    # -- compiling ahead ---------------------------------------------------------------------

    def warm_up(self, context: Given = None, *, arms: Arms = None) -> None:
        """Compile ahead for decisions like this one, so that the first does not wait.

        The context and arms are an example, as `decide` would get them; nothing is noted.
        """
        with self._follower.lock:
            state = self._state
            schema = state.schema or fitted(context, arms, state.setting.empty_schema())
            request = encoded(Request(None, context, arms), state, schema)
            live = state.fresh(schema)
        offer = Offer(request.asked, request.rows.context, request.rows.features)
        warm_up(live, state.setting, offer)


def _each_context(contexts: Any) -> list[Given]:
    """Return contexts one by one: those of a list, the rows of a DataFrame, or as many without."""
    if isinstance(contexts, int | np.integer) and not isinstance(contexts, bool) and contexts >= 0:
        return [None] * int(contexts)
    if hasattr(contexts, "to_dicts"):  # of polars
        return list(contexts.to_dicts())
    if hasattr(contexts, "to_dict") and hasattr(contexts, "columns"):  # of pandas
        return list(contexts.to_dict("records"))
    if isinstance(contexts, str | Mapping) or not hasattr(contexts, "__iter__"):
        raise BadParameter(
            f"decide_many takes contexts, a DataFrame or a number >= 0, got {contexts!r}"
        )
    return list(contexts)


def _joined(context: Given, more: Mapping[str, Any] | None) -> Given:
    """Return a context with further features."""
    if more is None:
        return context
    if not isinstance(more, Mapping) or not (context is None or isinstance(context, Mapping)):
        raise BadParameter("slots are described by mappings, and then the context is a mapping too")
    return {**(context or {}), **more}


_READY: set[type] = set()  # classes of states whose kernels this process has


def make_ready(state: BanditState, part: Encoded) -> None:
    """Compile choice and reward together, before the first decision of a kind of policy.

    Otherwise the first reward would compile while all decisions wait.
    """
    live = state.live
    if live is None or not live.compiled or type(live.state) in _READY:
        return
    _READY.add(type(live.state))
    _LOGGER.info("%s is made ready: compiling may take a minute", live.policy)
    offer = Offer(part.asked, part.rows.context, part.rows.features)
    _try_out(state.fresh(live.schema), state.setting, offer, rewards=(1.0, 0.0))


def _try_out(live: LivePolicy, setting: Setting, offer: Offer, *, rewards: Sequence[float]) -> None:
    """Choose and learn with a state that nobody needs.

    With rewards other than 0 and 1 some policies choose in another way, which takes longer.
    """
    live.grow_to(0, n_arms=offer.arms.size)
    for number, reward in enumerate(rewards):
        sampled(live, setting, offer, number=number, baseline=0)
        live.learn(case_of(offer, 0), int(offer.arms[0]), reward)


def warm_up(live: LivePolicy, setting: Setting, offer: Offer) -> None:
    """Compile all that a bandit does with a policy, by doing it to a state that nobody needs."""
    _try_out(live, setting, offer, rewards=(1.0, 0.0, 0.5))
    sampled(live, setting, offer, number=9, baseline=0)
    live.snapshot()  # the first one plays a little, to tell versions of giro apart
    gc.collect()  # or Python looks through all that was loaded while somebody waits


def checked_names(arms: object) -> list[str]:
    """Return the names of arms, after checking that they are different words, at least one."""
    names = list(arms) if not isinstance(arms, str) and hasattr(arms, "__iter__") else []
    if not names or not all(map(is_word, names)):
        raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is named twice in {names}")
    return names


def checked_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that refuses times which are no numbers."""
    if clock is time.time:
        return clock

    def checked() -> float:
        now = clock()
        if not (isinstance(now, int | float | np.number) and abs(now) < np.inf):
            raise BadParameter(f"the clock of a bandit gives seconds, got {now!r}")
        return float(now)

    return checked


def _retained(retain: Any) -> dict[str, Any]:
    """Return a parameter as settings: a time, or a number of rewards."""
    is_time = isinstance(retain, timedelta)
    return {"retain_seconds" if is_time else "retain_rewards": _seconds(retain)}


def _seconds(time: Any) -> Any:
    return time.total_seconds() if isinstance(time, timedelta) else time


def _random_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(12)).decode()  # 16 characters
