"""Bandit: arms by name, decide now, reward later, in memory or in a store that survives."""

import contextlib
import gc
import hashlib
import itertools
import json
import logging
import os
import secrets
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Self, TypeAlias, cast

import numpy as np

from giro.bandit.event import (
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Decision,
    Event,
    Formed,
    Reported,
    Rewarded,
)
from giro.bandit.exchange import events_in, events_of, events_table, read_events, write_events
from giro.bandit.file import Packed, packed, read_bandit, snapshot_of, store_of, write_bandit
from giro.bandit.propensity import sampled
from giro.bandit.setting import Arms, Forms, Setting
from giro.bandit.state import BanditState
from giro.bandit.stores import MemoryStore, Store, Taken, names_in, opened
from giro.bandit.summary import Apprenticeship, apprenticeship, summary
from giro.checks import NOT_NEGATIVE, WORD, check, is_word, optional
from giro.errors import BadParameter, GiroError, StoreError
from giro.features import Given
from giro.kernels.hashed import Collisions, collisions
from giro.live import LivePolicy
from giro.named import text_of
from giro.offer import MOST_PRODUCTS, Offer, case_of
from giro.policy import Policy, arrays_of

if TYPE_CHECKING:
    import polars as pl

    from giro.evaluation.log import Log

Ids: TypeAlias = Callable[[], str] | Literal["random", "numbered"]

_LOGGER = logging.getLogger("giro")
_CHUNK = 200  # events that are applied while decisions wait
_GROUP = 1000  # rewards that are appended together
_CHORES = 1.0  # seconds between chores
_GLANCE = 0.05  # seconds after which who follows a log looks whether the bandit is closed
_SNAPSHOT_EVERY = (10_000, 100_000)  # events: a tenth of the log, but within these bounds
_BANDITS: "weakref.WeakSet[Bandit]" = weakref.WeakSet()


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
    - `features`: how contexts given as mappings become numbers: for each name "number", a list of
      words (one column each, and one for all other words), or "hashed:32" (words to 32 columns).
      Without it the first context decides: numbers stay, words are hashed to 16 columns. Decided
      once, for all contexts. Any name may be missing in a context, or be None.
    - `interactions`: which features of the context are multiplied by which of the arm, as
      `["user*item"]`; by default all by all. Each part is a feature (`user.age`), a mapping with
      all that is in it (`user`), or everything: `context` and `arm`.
    - `standardise`: whether the policy sees numbers of contexts and arms less their mean and over
      their standard deviation, both of the rewards learned so far; a missing number is then the
      mean, and otherwise 0. The log holds what was given.
    - `first_decisions`: how many decisions an arm gets before its first reward is known; then it is
      left out until that comes (or it expires), provided that another arm has a reward. Most
      policies would take a new arm every time until then. None for no limit.
    - `share`: how many of the decisions are the policy's; in the others the baseline is taken (see
      `decide`). With 0 the policy is an apprentice: it learns from what the baseline brings, and
      `apprenticeship` tells how it would have done.
    - `reward_wait`: seconds (or a timedelta) after which a decision without a reward gets
      `default_reward`: 0, or the lowest reward if 0 is not in the range, unless you say otherwise.
    - `reward_aggregation`: what a second report for the same decision does. "only": the same value
      changes nothing, another is an error. "first": it is ignored. "last" and "sum": the reward is
      the last report or the sum of all (no more than the range allows) when `reward_wait` is over,
      and learned then.
    - `name`, `store`: where the log is kept: in memory, or durably under this name in
      `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE` (`giro-bandits[postgres]`). A bandit
      that is there is opened as it is. Any number of threads, processes and machines may work on it
      at once: each decides from its own state, which follows the log. Calls return when what they
      say is durable.
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
        standardise: bool = True,
        first_decisions: int | None = 10,
        share: float = 1.0,
        reward_wait: float | timedelta | None = None,
        default_reward: float | None = None,
        reward_aggregation: str = "only",
        name: str | None = None,
        store: str | os.PathLike[str] | None = None,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
    ) -> None:
        """Check the parameters; make the bandit, or open it as it is."""
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
        )
        names = [] if arms is None else checked_names(arms)
        its: Store = MemoryStore() if store is None else opened(store, name)
        if its.last() == 0:
            began = Began(clock(), json.dumps(setting.to_json()))
            its.append([began, *(ArmAdded(clock(), arm) for arm in names)])
        self._open(its, setting.policy, clock, ids)
        if store is not None:
            self._check_same(setting)

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        name: str,
        policy: Policy | str | None = None,
        *,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
    ) -> Self:
        """Return the bandit that is kept in a store under this name.

        A `policy` that is given takes the place of the one at work, in all processes, and learns
        all rewards from the beginning; it must be given again if it holds Python objects.
        """
        if name not in names_in(store):
            raise BadParameter(f"the store has no bandit '{name}'; it has {names_in(store)}")
        return cls._of(opened(store, name), policy, clock, ids)

    @classmethod
    def _of(
        cls,
        store: Store,
        policy: Policy | str | None,
        clock: Callable[[], float],
        ids: Ids,
    ) -> Self:
        bandit = cls.__new__(cls)
        bandit._open(store, policy, clock, ids)
        setting = bandit._state.setting
        if setting.policy.text != bandit._state.logged_policy:  # the log says which is at work
            bandit._append([Began(clock(), json.dumps(setting.to_json()))])
        return bandit

    def _open(
        self,
        store: Store,
        policy: Policy | str | None,
        clock: Callable[[], float],
        ids: Ids,
    ) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.RLock()  # of the state
        self._following = threading.Lock()
        self._follower: threading.Thread | None = None
        self._closed = False
        self._next_chores = -np.inf
        self._state = self._opened_state(policy)
        self._new_id = self._source_of(ids)
        self._snapshot_at = self._state.position
        _BANDITS.add(self)

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
        plain, its = given.to_json(), self._state.setting.to_json()
        its["policy"] = self._state.logged_policy
        for key in plain.keys() - {"giro"}:
            if plain[key] != its[key]:
                self.close()
                raise BadParameter(
                    f"the bandit '{given.name}' in the store has {key}={its[key]!r}, got "
                    f"{plain[key]!r}; Bandit.open(store, name) opens it as it is, and "
                    "Bandit.open(store, name, policy) with another policy"
                )

    # -- following the log -------------------------------------------------------------------

    def _opened_state(self, policy: Policy | str | None) -> BanditState:
        """Return a state that has all events: the newest snapshot that fits, and those since."""
        store = self._store
        states = (
            BanditState.restored(snapshot, policy, remembers=store.shared)
            for snapshot in store.snapshots()
        )
        state = next((state for state in states if state is not None), None)
        return self._caught_up(state or self._first_state(policy))

    def _first_state(self, policy: Policy | str | None) -> BanditState:
        store = self._store
        return BanditState(policy, remembers=store.shared, erased=store.last())

    def _caught_up(self, state: BanditState) -> BanditState:
        """Return a state that nobody else uses, with all events there are."""
        while events := self._store.read(state.position, 50 * _CHUNK):
            state.apply(events, self._store.find)
            if state.outdated:
                state = self._first_state(state.policy)
        return state

    def _append(self, events: Sequence[Event]) -> None:
        """Append events, all or none, and go on from them."""
        if self._closed:
            raise StoreError("the bandit is closed")
        store = self._store
        if not store.shared:
            with self._lock:
                store.append(events)
                self._state.apply(events, store.find)
                self._begin_again_if_outdated()
            return
        first = store.append(events)
        with self._lock:
            is_next = self._state.position == first - 1
            if is_next:
                self._state.apply(events, store.find)
        if not is_next or self._state.outdated:
            self._follow()

    def _follow(self) -> None:
        """Apply all events that are in the log, a few at a time: decisions go on in between."""
        with self._following:
            more = True
            while more:
                position = self._state.position
                events = self._store.read(position, _CHUNK)
                more = len(events) == _CHUNK
                with self._lock:  # own events may have been applied meanwhile
                    left = events[self._state.position - position :]
                    self._state.apply(left, self._store.find)
            self._begin_again_if_outdated()

    def _begin_again_if_outdated(self) -> None:
        """Make the state again from the log; decisions go on from the old one until it is there."""
        if self._state.outdated:
            fresh = self._caught_up(self._first_state(self._state.policy))
            with self._lock:
                self._state = self._caught_up(fresh)

    def _tend(self) -> None:
        """Run `keep` every `_CHORES` seconds.

        In a thread if the store is shared, otherwise within calls.
        """
        if self._store.shared:
            if self._follower is None and not self._closed:
                self._follower = threading.Thread(
                    target=_follow_and_keep, args=(weakref.ref(self),), daemon=True, name="giro"
                )
                self._follower.start()
        elif self._state.setting.reward_wait is not None:
            now = self._clock()
            if now >= self._next_chores or now < self._next_chores - 2 * _CHORES:
                self._next_chores = now + _CHORES
                self.keep()

    def keep(self) -> None:
        """Do what one process does for all: settle rewards whose waiting is over, keep a snapshot.

        It is done by itself every second or so, by one of the processes on a store; without a store
        while decisions and rewards come. Call it to have it done now.
        """
        if not self._store.is_keeper():
            return
        wait = self._state.setting.reward_wait
        while wait is not None:
            due = self._store.waiting(self._clock() - wait)[:_GROUP]
            if not due:
                break
            self._settle(due)
        least, most = _SNAPSHOT_EVERY
        position = self._state.position
        if position - self._snapshot_at >= min(max(position // 10, least), most):
            self._keep_snapshot()

    def _settle(self, due: Sequence[Decided]) -> None:
        setting, now, rewards = self._state.setting, self._clock(), []
        for decision in due:
            reports = self._store.reports(decision.id) if setting.collects_reports else []
            value = setting.aggregated(reports)
            rewards.append(Rewarded(decision.id, now, value, not reports))
        self._append_each(rewards)

    def _append_each(self, rewards: Sequence[Rewarded]) -> None:
        """Append those rewards of decisions that still wait."""
        for begin in range(0, len(rewards), _GROUP):
            group = rewards[begin : begin + _GROUP]
            while group:
                try:
                    self._append(group)
                    break
                except Taken:  # a reward came meanwhile
                    found = self._store.find([reward.id for reward in group])
                    waits = {id for id, its in found.items() if its.reward is None}
                    group = [reward for reward in group if reward.id in waits]

    def _keep_snapshot(self) -> None:
        self._know_behaviour()
        with self._lock:
            snapshot = self._state.snapshot()
            self._snapshot_at = self._state.position
        if snapshot is not None:
            self._store.keep(snapshot)

    def _know_behaviour(self) -> None:
        """Work out what a snapshot says of the policy, which is slow, while others may decide."""
        live = self._state.live
        if live is not None and live.compiled:
            live.fingerprint()

    def close(self) -> None:
        """Let go of the store; if this process tends the log, a snapshot is kept first."""
        if self._closed:
            return
        self._closed = True
        store = self._store
        if store.shared:
            if self._snapshot_at < self._state.position and store.is_keeper():
                self._keep_snapshot()
            if self._follower is not None and self._follower is not threading.current_thread():
                self._follower.join()
            store.close()

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
        """How many decisions were made."""
        return self._state.n_decisions

    @property
    def n_rewards(self) -> int:
        """How many decisions have a reward, expired ones included."""
        return self._state.n_rewards

    @property
    def position(self) -> int:
        """How many events of the log this bandit has taken in; see `events`."""
        return self._state.position

    def decision(self, id: str) -> Decision:
        """Return an earlier decision."""
        found = self._store.find([id]) if isinstance(id, str) else {}
        if id not in found:
            raise BadParameter(f"no decision has the id {id!r}")
        return self._decision(found[id].decision)

    def pending(self) -> list[Decision]:
        """Return the decisions that wait for their reward, oldest first."""
        return [self._decision(event) for event in self._store.waiting(np.inf)]

    def summary(self) -> "pl.DataFrame":
        """Return a row for each arm: how often it was chosen, and what it brought.

        Columns: `arm`, `active`, `decisions`, `rewards` (that came), `mean` of these with the 95 %
        interval `low` to `high` (Wilson's if all are the lowest or the highest, otherwise normal),
        and `last_day`: its share of the decisions of the last 24 hours.
        """
        with self._lock:
            return summary(self._state, self._clock())

    def collisions(self) -> Collisions:
        """Return how many features share a column of the table, where the policy hashes them.

        If the share is high, more `bits` (as in `model=[hashed:bits=20]`) may predict better.
        """
        with self._lock:
            live = self._state.live
            arrays = {} if live is None else arrays_of(live.state) or {}
            found = [array for path, array in arrays.items() if path.endswith("table.squares")]
            if not found:
                raise BadParameter(f"{self.policy} has no table of hashed features, or is not used")
            return collisions(found[0])

    def apprenticeship(self) -> Apprenticeship:
        """Return how the policy would have done by itself, where a baseline decides (`share`)."""
        with self._lock:
            return apprenticeship(self._state)

    def __repr__(self) -> str:
        return (
            f"Bandit({self.arms}, {self.policy.text!r}: {self.n_decisions} decisions, "
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
        """Return the decision which arm to take now.

        `context` is what is known beforehand: a list of numbers, or a mapping of names to numbers
        and words. Either all decisions have one, of the same form, or none has; with the model
        `hashed` any of them may have any. `arms` restricts the choice to some of the active arms
        for this once; a mapping of their names to what is known of each (in the form of a context)
        lets policies that can learn one model of all arms.
        New arms of which `first_decisions` are under way are left out, unless none of the others
        has a reward. `id` is your own name for the decision, such as that of a request; asked
        again with the same id and request, the bandit returns the same decision. `baseline` is the
        arm to take where the policy does not decide (`share`), by default the first of `arms`.
        """
        return self._decided_once([_Request(id, context, arms, baseline)])[0]

    def decide_many(
        self, contexts: Iterable[Given] | int, *, arms: Arms = None, baseline: str | None = None
    ) -> list[Decision]:
        """Return a decision for each context, or as many without; all or, on an error, none.

        None of them can learn from the others: that is the same as calling `decide` for each.
        """
        self._tend()
        if isinstance(contexts, bool) or (isinstance(contexts, int | np.integer) and contexts < 0):
            raise BadParameter(f"decide_many takes contexts or a number >= 0, got {contexts}")
        several = [None] * contexts if isinstance(contexts, int | np.integer) else list(contexts)
        requests = [_Request(None, context, arms, baseline) for context in several]
        return self._decided(requests) if requests else []

    def rank(
        self,
        context: Given = None,
        *,
        arms: Arms = None,
        slots: int | Sequence[Mapping[str, Any]],
        id: str | None = None,
    ) -> list[Decision]:
        """Return a decision for each slot, from first to last, no arm twice; all or none.

        A slot is filled by the policy from the arms that are left, so the propensity of its arm is
        that given the slots before. Each has its own id to report its reward under; with an
        `id` of yours these are `id/0`, `id/1`, ..., and the same request again gets the same
        ranking. `slots` is how many there are, or a list with what is known of each, which is added
        to the context. `context` and `arms` as in `decide`; an apprentice (`share`) fills the slots
        with the first arms.
        """
        known: Sequence[Mapping[str, Any] | None]
        if isinstance(slots, int | np.integer) and not isinstance(slots, bool) and slots > 0:
            known = [None] * int(slots)
        elif isinstance(slots, Sequence) and not isinstance(slots, str) and len(slots) > 0:
            known = slots
        else:
            raise BadParameter(f"slots is a number > 0, or a list of their features, got {slots!r}")
        check("a ranking", optional(WORD), id=id)
        n_arms = self._state.asked(arms).size
        if len(known) > n_arms:
            raise BadParameter(f"there are {len(known)} slots for {n_arms} arms")
        return self._decided_once(
            [
                _Request(id and f"{id}/{slot}", _joined(context, its), arms, None, slot > 0)
                for slot, its in enumerate(known)
            ]
        )

    def _decided_once(self, requests: Sequence["_Request"]) -> list[Decision]:
        """Return a decision for each request, those that were made before if they have ids."""
        self._tend()
        if requests[0].id is None:
            return self._decided(requests)
        for request in requests:
            check("a decision", WORD, id=request.id)
        known = self._known(requests)
        if known is not None:
            return known
        try:
            return self._decided(requests)
        except Taken:  # by somebody else, at the same moment
            known = self._known(requests)
            if known is None:
                raise
            return known

    def _decided(self, requests: Sequence["_Request"]) -> list[Decision]:
        if self._state.forms is None:
            self._fix_forms([request.context for request in requests], requests[0].arms)
        with contextlib.nullcontext() if self._store.shared else self._lock:
            events = self._made(requests)
            try:
                self._append(events)
            except BaseException:
                with self._lock:
                    for event in events:
                        self._state.taken_back(event)
                raise
        return [self._decision(event) for event in events]

    def _made(self, requests: Sequence["_Request"]) -> list[Decided]:
        events: list[Decided] = []
        with self._lock:
            if self._state.broken:
                self._state = self._caught_up(self._first_state(self._state.policy))
            state, forms = self._state, self._state.forms
            if forms is None or state.live is None:
                raise BadParameter("the first decision has failed; try again")
            try:
                for request in requests[1:]:  # all are checked before any is made
                    state.offered(request.context, request.arms, state.asked(request.arms), forms)
                for request in requests:
                    taken = events if request.others else ()
                    arms = self._left(request.arms, [self._decision(event).arm for event in taken])
                    events.append(self._made_one(state, forms, request, arms))
                    state.under_way(events[-1])
            except BaseException:
                for event in events:
                    state.taken_back(event)
                raise
        return events

    def _made_one(
        self, state: BanditState, forms: Forms, request: "_Request", arms: Arms
    ) -> Decided:
        among, row, features = offer = state.offered(
            request.context, arms, state.asked(arms), forms
        )
        id = self._new_id() if request.id is None else request.id
        digest = b"" if request.id is None else self._digest(request)
        live, setting = cast(LivePolicy, state.live), state.setting
        if setting.open_arms:
            live.grow_to(live.learned, n_arms=among.size)
        place = self._baseline(request.baseline, arms, among)
        arm, p, own = sampled(live, setting, offer, number=_number(id), baseline=place)
        names = tuple(arms or ()) if setting.open_arms else ()
        known = (live.learned, row, features, digest, names)
        return Decided(id, self._clock(), arm, among, p, own, *known)

    def _left(self, arms: Arms, taken: Sequence[str]) -> Arms:
        """Return the arms without those that are taken."""
        if not taken:
            return arms
        names = self.arms if arms is None else arms
        if isinstance(names, Mapping):
            return {name: names[name] for name in names if name not in taken}
        return [name for name in names if name not in taken]

    def _baseline(self, baseline: str | None, arms: Arms, among: np.ndarray) -> int:
        """Return the position of the baseline among the arms on offer."""
        if self._state.setting.open_arms:
            names = list(arms or ())
            if baseline is not None and baseline not in names:
                raise BadParameter(f"the baseline '{baseline}' is not one of the arms on offer")
            return 0 if baseline is None else names.index(baseline)
        if self._state.setting.share == 1.0:
            if baseline is not None:
                self._state.active_arm(baseline)
            return 0
        if baseline is None:
            baseline = self.arms[0] if arms is None else next(iter(arms))
        arm = self._state.active_arm(baseline)
        position = int(among.searchsorted(arm))
        if position == among.size or among[position] != arm:
            if arms is not None and baseline not in arms:
                raise BadParameter(f"the baseline '{baseline}' is not one of the arms {list(arms)}")
            return 0  # it waits for its first reward
        return position

    def _fix_forms(self, contexts: Sequence[Given], arms: Arms) -> None:
        """Let the first request decide on the form of contexts and features of arms."""
        with self._lock:
            state = self._state
            forms = Forms.fitted(contexts[0], arms, state.setting)
            for context in contexts:
                state.offered(context, arms, state.asked(arms), forms)
            policy = state.setting.policy
            if contexts[0] is not None and not policy.resolved(contextual=True).uses_contexts:
                warnings.warn(f"{policy} logs contexts, but ignores them", stacklevel=5)
            absent = forms.absent(contexts[0], arms)
            if absent:
                warnings.warn(
                    f"nothing here is called {', '.join(map(repr, absent))}: interactions with it "
                    "wait until that comes. Is it misspelt?",
                    stacklevel=5,
                )
            n, m = forms.widths
            if n * m > MOST_PRODUCTS and state.setting.interactions is None:
                warnings.warn(
                    f"{n} features of the context by {m} of an arm are too many products for a "
                    "dense model, which has none of them: the context cannot change the choice. "
                    "Name some, as in interactions=['age*topic'], or use model=hashed",
                    stacklevel=5,
                )
            _LOGGER.info("%s is made ready: compiling may take a minute", policy)
            state.fresh(forms)  # refuses what the policy cannot use
        try:
            self._append([Formed(self._clock(), json.dumps(forms.to_json()))])
        except Taken:  # by another process
            self._follow()

    def _known(self, requests: Sequence["_Request"]) -> list[Decision] | None:
        """Return the decisions with these ids, which were asked for by the same requests."""
        ids = [str(request.id) for request in requests]
        found = self._store.find(ids)
        if not found:
            return None
        for id, request in zip(ids, requests, strict=True):
            digest = found[id].decision.request if id in found else b"another"
            if digest and digest != self._digest(request):
                raise BadParameter(f"the decision '{id}' was asked for by another request")
        return [self._decision(found[id].decision) for id in ids]

    def _digest(self, request: "_Request") -> bytes:
        """Return a digest of what was asked for."""
        forms = self._state.forms
        if forms is None:
            return b""
        arms = request.arms
        digest = hashlib.blake2b(forms.row(request.context).tobytes(), digest_size=8)
        named = [None if arms is None else list(arms), request.baseline]
        digest.update(json.dumps(named).encode())
        if isinstance(arms, Mapping):
            digest.update(forms.rows(arms).tobytes())
        return digest.digest()

    # -- rewarding ---------------------------------------------------------------------------

    def reward(self, id: str, value: float) -> None:
        """Report what a decision brought, in the units of `reward_range`.

        Rewards come in any order. The same report again changes nothing; another value for the same
        decision is an error unless `reward_aggregation` says otherwise, as is an unknown id, and
        then nothing changes either.
        """
        self._tend()
        self._reward_all([(id, value)])

    def reward_many(self, rewards: Mapping[str, float] | Iterable[tuple[str, float]]) -> None:
        """Report several rewards, all or, on an error, none; they are learned in this order."""
        self._tend()
        self._reward_all(list(rewards.items() if isinstance(rewards, Mapping) else rewards))

    def _reward_all(self, pairs: Sequence[tuple[str, float]]) -> None:
        setting, events = self._state.setting, list[Reported | Rewarded]()
        values: dict[str, float] = {}
        for id, value in pairs:
            checked = setting.checked_reward(value)
            if not isinstance(id, str):
                raise BadParameter(f"no decision has the id {id!r}")
            if setting.collects_reports:
                events.append(Reported(id, self._clock(), checked))
            elif id not in values:
                events.append(Rewarded(id, self._clock(), checked))
            elif values[id] != checked and setting.reward_aggregation == "only":
                raise BadParameter(f"two different rewards for the decision '{id}'")
            values.setdefault(id, checked)
        while events:
            try:
                return self._append(events)
            except Taken:
                events = self._still_wanted(events)

    def _still_wanted(self, events: Sequence[Reported | Rewarded]) -> list[Reported | Rewarded]:
        """Return those events whose decision waits; check that the others say what is known."""
        found, left = self._store.find([event.id for event in events]), []
        for event in events:
            its = found.get(event.id)
            if its is None:
                raise BadParameter(f"no decision has the id {event.id!r}")
            if its.reward is None:
                left.append(event)
                continue
            known = its.reward
            first = self._state.setting.reward_aggregation == "first" and not known.expired
            if isinstance(event, Rewarded) and (first or known.value == event.value):
                continue
            since = " since it expired" if known.expired else ""
            raise BadParameter(
                f"decision '{event.id}' already has the reward {text_of(known.value)}{since}, "
                f"got {text_of(event.value)}"
            )
        return left

    def expire(self, older_than: float | timedelta, reward: float | None = None) -> list[Decision]:
        """Give decisions that were never rewarded a default; return these decisions.

        Meant are those made `older_than` seconds ago or before. The default (`default_reward`
        unless it is given here) counts like a reward that came now; a later report of another value
        is an error. With `reward_wait` this is done by itself.
        """
        age = _seconds(older_than)
        check("expire", NOT_NEGATIVE, older_than=age)
        setting, now = self._state.setting, self._clock()
        value = setting.aggregated([]) if reward is None else setting.checked_reward(reward)
        old = self._store.waiting(now - age)
        self._append_each([Rewarded(event.id, now, value, True) for event in old])
        return [self._decision(event) for event in old]

    # -- arms --------------------------------------------------------------------------------

    def add_arm(self, name: str) -> None:
        """Let an arm be chosen from now on; explored from the start, or with its past if retired.

        While no reward of a new arm is known, it gets no more than `first_decisions` decisions.
        """
        word = checked_names([name])[0]
        if self._state.setting.open_arms:
            raise BadParameter("this bandit was made without arms: they come with each decision")
        if word in self.arms:
            raise BadParameter(f"there already is an arm '{word}'")
        self._append([ArmAdded(self._clock(), word)])

    def retire_arm(self, name: str) -> None:
        """Never choose an arm again; its past stays, and rewards under way are still accepted."""
        with self._lock:
            arm = self._state.active_arm(name)
            if self._state.active.size == 1:
                raise BadParameter(f"'{name}' is the last arm: add another before it retires")
        self._append([ArmRetired(self._clock(), self._state.arms[arm])])

    # -- others' data, and people's ----------------------------------------------------------

    def learn_from(self, log: "Log") -> int:
        """Learn the decisions of another system, and return how many: a warm start.

        `log` is what `giro.read_log` returns for a table, a file or another bandit's events. Arms
        that are not known are added; a bandit made without arms takes those of each event. If the
        policy hashes features, the log has hashed ones. The decisions go into this bandit's own
        log, with their propensities and rewards, under ids that start with `log-`.
        """
        with self._lock:
            first, pairs = events_of(log, self._state, self._clock())
        for begin in range(0, len(pairs), _GROUP):
            self._append([*first, *pairs[begin : begin + _GROUP]])
            first = []
        return len(pairs) // 2

    def erase(self, ids: Iterable[str]) -> int:
        """Remove all that is known of these decisions, for good; return how many events are gone.

        Their contexts, arms, rewards and ids leave the log and its snapshots, and all processes
        learn the rest again, as if these decisions had never been. Ids that are not known are
        passed over. Files saved or exported before are yours to delete.
        """
        store, words = self._store, [str(id) for id in ids]
        if store.shared:
            gone = store.erase(words, self._clock())
            self._follow()
            return gone
        with self._lock:
            gone = store.erase(words, self._clock())
            if gone:
                self._state = self._caught_up(self._first_state(self._state.policy))
        return gone

    # -- the log and files -------------------------------------------------------------------

    def events(self, *, since: int = 0) -> "pl.DataFrame":
        """Return the log behind the position `since`, one row an event, in order.

        Columns: `number` (the position), `kind` (setting, form, decision, report, reward, expired,
        arm_added, arm_retired, erased, rebuilt), `id` of the decision, `time`, `arm`, `reward` as
        reported, and of decisions `propensity` (of the chosen arm), `arms` (that could be chosen),
        `propensities` (of these), `context` (its features), `features` (of these arms), `own` (the
        probability before a baseline was mixed in) and `seen` (rewards learned before). `setting`
        holds settings and forms. Decisions go on meanwhile.
        """
        whole = list(self._events(since))
        decided = {event.id for event in whole if isinstance(event, Decided)}
        before = {event.id for event in whole if isinstance(event, Rewarded | Reported)} - decided
        found = self._store.find(list(before))
        chosen = {id: self._decision(its.decision).arm for id, its in found.items()}
        return events_table(whole, self._state.arms, since + 1, chosen)

    def _events(self, since: int) -> Iterator[Event]:
        end = self._store.last()
        while since < end:
            events = self._store.read(since, min(50 * _CHUNK, end - since))
            yield from events
            since += len(events)

    def write_events(self, path: str | os.PathLike[str], *, since: int = 0) -> None:
        """Write what `events` returns to a file: .parquet, or .jsonl with a JSON object a line."""
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
        store = MemoryStore()
        state = BanditState(policy, remembers=False)
        for event in events_in(read_events(events)):
            try:
                state.check(event)
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
        self._know_behaviour()
        if isinstance(store, MemoryStore):
            with self._lock:
                content = packed(store, self._state.snapshot())
        else:
            with self._lock:
                snapshot = self._state.snapshot()
            copy = MemoryStore()
            for event in self._events(0):
                copy.append([event])
            content = packed(copy, snapshot)
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
        if not isinstance(content, Packed):
            bandit = cls.replay(content, policy, clock=clock, ids=ids)
        else:
            memory = store_of(content)
            memory.kept = snapshot_of(content)
            bandit = cls._of(memory, policy, clock, ids)
        if store is None:
            return bandit
        if name in names_in(store):
            raise BadParameter(f"the store already has a bandit '{name}'")
        target = opened(store, name)
        whole = list(bandit._events(0))
        for begin in range(0, len(whole), _GROUP):
            target.append(whole[begin : begin + _GROUP])
        return cls._of(target, bandit.policy, clock, ids)

    # -- compiling ahead ---------------------------------------------------------------------

    def warm_up(self, context: Given = None, *, arms: Arms = None) -> None:
        """Compile ahead what decisions like this one need, so that the first does not wait.

        The context and arms are an example, as `decide` would get them; nothing is noted.
        """
        with self._lock:
            state = self._state
            forms = state.forms or Forms.fitted(context, arms, state.setting)
            offer = state.offered(context, arms, state.asked(arms), forms)
            live = state.fresh(forms)
        warm_up(live, state.setting, offer)


class _Request(NamedTuple):
    """What is asked for in one decision."""

    id: str | None
    context: Given
    arms: Arms
    baseline: str | None
    others: bool = False  # arms other than those of the decisions made with it


def _joined(context: Given, more: Mapping[str, Any] | None) -> Given:
    """Return a context with more that is known."""
    if more is None:
        return context
    if not isinstance(more, Mapping) or not (context is None or isinstance(context, Mapping)):
        raise BadParameter("slots are described by mappings, and then the context is a mapping too")
    return {**(context or {}), **more}


def warm_up(live: LivePolicy, setting: Setting, offer: Offer) -> None:
    """Compile all that a bandit does with a policy, by doing it to a state that nobody needs."""
    case = case_of(offer, 0)
    for number, reward in enumerate((1.0, 0.0, 0.5)):
        sampled(live, setting, offer, number=number, baseline=0)
        live.learn(case, int(offer.arms[0]), reward)
    contexts, features = np.array([case.context] * 2), np.array([case.features] * 2)
    live.learn_all(contexts, features, np.array([offer.arms[0]] * 2), np.array([0.0, 1.0]))
    sampled(live, setting, offer, number=9, baseline=0)
    live.snapshot()  # the first one plays a little, to tell versions of giro apart
    gc.collect()  # or Python looks through all that was loaded while somebody waits


def checked_names(arms: object) -> list[str]:
    """Check that arms is a non-empty list of different words; return it."""
    names = list(arms) if not isinstance(arms, str) and hasattr(arms, "__iter__") else []
    if not names or not all(map(is_word, names)):
        raise BadParameter(f"arms is a list of names, not empty; got {arms!r}")
    if len(set(names)) < len(names):
        raise BadParameter(f"an arm is named twice in {names}")
    return names


def _seconds(time: Any) -> Any:
    return time.total_seconds() if isinstance(time, timedelta) else time


def _random_id() -> str:
    return secrets.token_hex(12)


def _number(id: str) -> int:
    """Return the number of the stream from which a decision draws."""
    return int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "big")


def _follow_and_keep(reference: "weakref.ref[Bandit]") -> None:
    """Follow the log, and do chores, for as long as somebody uses the bandit."""
    next_chores, failing = 0.0, False
    while True:
        bandit = reference()
        if bandit is None or bandit._closed:
            return
        try:
            if time.monotonic() >= next_chores:
                next_chores = time.monotonic() + _CHORES
                bandit.keep()
            if bandit._store.wait(bandit._state.position, _GLANCE):
                bandit._follow()
            failing = False
        except Exception as error:
            if not (bandit._closed or failing):
                _LOGGER.warning("following the log of '%s' fails: %s", bandit.name, error)
            failing = True
            time.sleep(_CHORES / 4)
        del bandit


# -- forks -----------------------------------------------------------------------------------

_held: list[Any] = []  # locks of all bandits, while the process is split


def _before_fork() -> None:
    """Wait until no thread changes a state: the child gets it as it is."""
    for bandit in list(_BANDITS):
        bandit._lock.acquire()
        _held.append(bandit._lock)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


def _in_child() -> None:
    _after_fork()
    for bandit in list(_BANDITS):
        bandit._following, bandit._follower = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
