"""Bandit: arms by name, decide now, reward later, in memory or in a store that survives."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from giro.bandit.aside import are_compiled, compile_aside, forms_of
from giro.bandit.asking import Ask, activated, answered_each, deferred_in
from giro.bandit.changing import change
from giro.bandit.deciding import Request, Slot, answered, encoded, ranking
from giro.bandit.event import (
    ArmAdded,
    ArmRetired,
    Began,
    Decided,
    Decision,
    Rewarded,
)
from giro.bandit.exchange import (
    events_of,
    read_events,
)
from giro.bandit.file import packed, read_bandit, snapshot_of, store_of, write_bandit
from giro.bandit.follower import GROUP, Follower
from giro.bandit.many import answered_many
from giro.bandit.opening import (
    Ids,
    begin_log,
    check_arms,
    check_same,
    checked_clock,
    checked_names,
    replayed,
    retained,
    seconds,
    source_of_ids,
)
from giro.bandit.reading import ReadableBandit
from giro.bandit.retention import copy_log
from giro.bandit.rewarding import GivenReward, append_reports, report_each
from giro.bandit.setting import Setting
from giro.bandit.stand_in import StandIn
from giro.bandit.stores import MemoryStore, Store, names_in, opened
from giro.bandit.warm_up import compile_for, warm_up
from giro.checks import NOT_NEGATIVE, check, ids_in
from giro.errors import BadParameter, GiroError
from giro.features import Arms, Given
from giro.features.schema import MAX_COLUMNS, fitted
from giro.policy import Policy
from giro.progress import shown

if TYPE_CHECKING:
    import polars as pl

    from giro.evaluation.log import Log


class Bandit(ReadableBandit):
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
    - `at_once`: whether arms are chosen uniformly, with these probabilities in the log, until
      `get_ready` has compiled the policy. Otherwise the first decision waits for it.
    - `progress`: whether a terminal or a notebook shows, after a second, how much of a long log
      has been read.

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
        at_once: bool = False,
        progress: bool = True,
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
            reward_wait=seconds(reward_wait),
            default_reward=default_reward,
            reward_aggregation=reward_aggregation,
            interactions=interactions,
            open_arms=arms is None,
            max_columns=max_columns,
            **retained(retain),
        )
        names = [] if arms is None else checked_names(arms)
        self._store: Store = MemoryStore() if store is None else opened(store, name)
        begin_log(self._store, setting, names, clock)
        self._open(self._store, setting.policy, clock, ids, at_once=at_once, progress=progress)
        if store is not None:
            self._check_asked(setting, names, sync=sync_arms)

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
        at_once: bool = False,
        read_only: bool = False,
        progress: bool = True,
    ) -> Self:
        """Return the bandit that is kept in a store under this name.

        A `policy` that is given takes the place of the one at work, in all processes, and learns
        all rewards that the log still has; it must be given again if it holds Python objects.
        `retain` replaces how long events stay in the log. With `at_once` arms are chosen uniformly
        until `get_ready`, unless there is a snapshot. With `read_only` the bandit can be looked at:
        it follows the log, changes nothing, and leaves the chores (`keep`) to others; a `policy`
        then plays in this process alone. `progress` as in `Bandit`.
        """
        if name not in names_in(store):
            known = ", ".join(map(repr, names_in(store))) or "none"
            raise BadParameter(f"the store has no bandit '{name}'; it has {known}")
        more = {"at_once": at_once, "read_only": read_only, "progress": progress}
        return cls._of(opened(store, name), policy, clock, ids, retain=retain, **more)

    @staticmethod
    def names(store: str | os.PathLike[str]) -> list[str]:
        """Return the names of the bandits in a store."""
        return names_in(store)

    @classmethod
    def _of(
        cls,
        store: Store,
        policy: Policy | str | None,
        clock: Callable[[], float],
        ids: Ids,
        *,
        retain: int | timedelta | None = None,
        at_once: bool = False,
        read_only: bool = False,
        progress: bool = True,
    ) -> Self:
        bandit = cls.__new__(cls)
        more = {"at_once": at_once, "read_only": read_only, "progress": progress}
        bandit._open(store, policy, clock, ids, **more)
        before = setting = bandit._state.setting
        if retain is not None:
            none = {"retain_rewards": None, "retain_seconds": None}
            setting = replace(setting, **(none | retained(retain)))
        is_other = setting.policy.text != bandit._state.logged_policy
        if (is_other or setting != before) and not read_only:  # the log says what is at work
            bandit._follower.append([Began(clock(), json.dumps(setting.to_json()))])
        return bandit

    def _open(
        self,
        store: Store,
        policy: Policy | str | None,
        clock: Callable[[], float],
        ids: Ids,
        *,
        at_once: bool,
        progress: bool,
        read_only: bool = False,
    ) -> None:
        stand_in = StandIn() if at_once else None
        self._store = store
        with shown("giro reads the log of a bandit", wanted=progress) as task:
            self._follower = Follower(
                store,
                policy,
                checked_clock(clock),
                stand_in=stand_in,
                task=task,
                read_only=read_only,
            )
        self._new_id = source_of_ids(ids, store, self.n_decisions)

    def _check_asked(self, setting: Setting, arms: Sequence[str], *, sync: bool) -> None:
        """Check that a bandit that was there is the one asked for, or add and retire arms."""
        try:
            check_same(setting, self._state)
            if arms and not sync:
                check_arms(arms, self.arms, self.name)
        except BadParameter:
            self.close()
            raise
        old = self.arms
        for arm in arms:
            if arm not in old:
                self.add_arm(arm)
        for arm in old if arms else ():
            if arm not in arms:
                self.retire_arm(arm)

    def change(self, **parameters: Any) -> None:
        """Go on with other parameters, here and wherever else this bandit is open.

        These can change: `policy`, `share`, `floor`, `votes`, `reward_wait`, `default_reward`,
        `reward_aggregation` and `retain`. They count for decisions that already wait for their
        reward, too. If reports are not collected any more, those that came are the reward. Another
        policy learns all rewards from the beginning.
        """
        change(self._follower, parameters)

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

    # -- deciding ----------------------------------------------------------------------------

    def decide(
        self,
        context: Given = None,
        *,
        arms: Arms = None,
        id: str | None = None,
        baseline: str | None = None,
        taken: str | None = None,
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
        `taken` is an arm that you have taken already, as while the bandit could not be asked: the
        decision for it enters the log with probability 1, so that its reward can be learned.
        """
        return self._decided([Request(id, context, arms, baseline, taken=taken)])[0]

    def decide_many(
        self,
        contexts: Iterable[Given] | int | np.integer,
        *,
        arms: Arms = None,
        baseline: str | None = None,
    ) -> list[Decision]:
        """Return a decision for each context, or this many without contexts.

        `contexts` is a list, a DataFrame whose rows are contexts, or a number. On an error, none is
        made. As with separate calls of `decide`, none can learn from the others.
        """
        made = answered_many(contexts, arms, baseline, self._follower, self._new_id)
        return self._decisions(made)

    async def decide_async(self, context: Given = None, **options: Any) -> Decision:
        """Return the decision of `decide`, without keeping an event loop from other work.

        It runs in a thread of the loop's pool. Calls that wait for a store at the same time share
        its commits, as those of threads do.
        """
        return await asyncio.to_thread(self.decide, context, **options)

    async def rank_async(self, context: Given = None, **options: Any) -> list[Decision]:
        """Return the decisions of `rank`, as `decide_async` does."""
        return await asyncio.to_thread(self.rank, context, **options)

    async def reward_async(self, id: str, value: float, *, report: str | None = None) -> None:
        """Report a reward as `reward` does, without keeping an event loop from other work."""
        await asyncio.to_thread(self.reward, id, value, report=report)

    def rank(
        self,
        context: Given = None,
        *,
        arms: Arms = None,
        slots: int | Sequence[Mapping[str, Any] | Slot],
        id: str | None = None,
    ) -> list[Decision]:
        """Return a decision for each slot, from first to last, without choosing an arm twice.

        On an error, none is made. The policy fills each slot from the arms that are left, so the
        propensity of an arm is that given the slots before. Each decision has its own id to report
        its reward under. With an `id` of yours these are `id/0`, `id/1`, ..., and the same request
        again gets the same ranking. `slots` is the number of slots, or a list of their features,
        which are added to the context, or of `giro.Slot`. `context` and `arms` are as in `decide`.
        An apprentice (`share`) fills the slots with their baselines, or the first arms.
        """
        n_arms = self._state.asked(arms).size
        return self._decided(ranking(context, arms, slots, id, n_arms))

    def decide_each(self, asks: Iterable[Ask]) -> list[list[Decision] | GiroError]:
        """Return the answer to each request, or the error that it alone would have raised.

        An answer is a list of one decision, or with slots of one for each. This is for programs
        that serve many callers: all decisions are appended together, which costs little more than
        one. If the store fails, it raises for all.
        """
        answers = answered_each(list(asks), self._follower, self._new_id)
        return [
            answer if isinstance(answer, GiroError) else self._decisions(answer)
            for answer in answers
        ]

    def decision_in(self, text: str, ask: Ask | None = None) -> Decision:
        """Return the deferred decision in a `text`, on this request if one is given."""
        return self._decision(deferred_in(text, ask, self._follower))

    def activate(self, texts: Iterable[str]) -> list[Decision]:
        """Append deferred decisions to the log, given by their `text`, and return them.

        Those that are there already stay as they are.
        """
        return self._decisions(activated(texts, self._follower))

    def _decided(self, requests: Sequence[Request]) -> list[Decision]:
        return self._decisions(answered(requests, self._follower, self._new_id))

    def _decisions(self, events: Sequence[Decided]) -> list[Decision]:
        names = self._state.names
        return [Decision(event, event.names or names(event.arms)) for event in events]

    # -- rewarding ---------------------------------------------------------------------------

    def reward(self, id: str, value: float, *, report: str | None = None) -> None:
        """Report a reward of a decision, in the units of `reward_range`.

        Rewards come in any order. The same report again changes nothing; another value for the same
        decision is an error unless `reward_aggregation` says otherwise, as is an unknown id, and
        then nothing changes either. Where reports of a decision add up, or the last one counts,
        `report` is a name for this one: sent again under its name, as after an answer that was
        lost, it counts once.
        """
        append_reports([(id, value, report)], self._follower)

    def reward_many(self, rewards: Mapping[str, float] | Iterable[GivenReward]) -> None:
        """Report several rewards, which are learned in this order.

        `rewards` are values by id, or tuples of an id, a value and if need be the name of the
        report, see `reward`. On an error, none of them counts.
        """
        given = rewards.items() if isinstance(rewards, Mapping) else rewards
        append_reports(list(given), self._follower)

    def reward_each(self, rewards: Iterable[GivenReward]) -> list[GiroError | None]:
        """Report rewards of many callers, and return the error of each or None.

        They are tuples as in `reward_many`. All that can be are appended together, and those that
        cannot fail alone. If the store fails, it raises for all.
        """
        return report_each(list(rewards), self._follower)

    def expire(self, older_than: float | timedelta, reward: float | None = None) -> list[Decision]:
        """Give a default reward to decisions that never got one, and return these decisions.

        Applies to decisions at least `older_than` seconds old. The default (`default_reward`
        unless it is given here) counts like a reward that came now; a later report of another value
        is an error. With `reward_wait` this is done by itself.
        """
        age = seconds(older_than)
        check("expire", NOT_NEGATIVE, older_than=age)
        setting, now = self._state.setting, self._follower.clock()
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
        self._follower.append([ArmAdded(self._follower.clock(), word)])

    def retire_arm(self, name: str) -> None:
        """Never choose an arm again.

        Its past stays, and rewards under way are still accepted.
        """
        with self._follower.lock:
            arm = self._state.active_arm(name)
            if self._state.active.size == 1:
                raise BadParameter(f"'{name}' is the last arm: add another before it retires")
        self._follower.append([ArmRetired(self._follower.clock(), self._state.arms[arm])])

    # -- others' data, and people's ----------------------------------------------------------

    def learn_from(self, log: "Log", *, progress: bool = True) -> int:
        """Learn the decisions of another system, and return how many: a warm start.

        `log` is what `giro.read_log` returns for a table, a file or another bandit's events. Arms
        that are not known are added; a bandit made without arms takes those of each event. Columns
        keep their names, so that decisions may have contexts of the same names afterwards. The
        decisions go into this bandit's own log, with their propensities and rewards, under ids that
        start with `log-`. A terminal or a notebook shows after a second how far it is, unless
        `progress` is False.
        """
        with shown("giro learns from a log", wanted=progress) as task:
            with self._follower.lock:
                first, pairs = events_of(log, self._state, self._follower.clock())
            task.total = len(pairs) // 2
            for begin in range(0, len(pairs), GROUP):
                self._follower.append([*first, *pairs[begin : begin + GROUP]])
                first = []
                task.advance(GROUP // 2)
        return len(pairs) // 2

    def erase(self, ids: Iterable[str]) -> int:
        """Remove these decisions for good, and return how many events are gone.

        Their contexts, arms, rewards and ids leave the log and its snapshots, and all processes
        learn the rest again, as if these decisions had never been. Ids that are not known are
        passed over. Files saved or exported before are yours to delete.
        """
        self._follower.check_writable()
        store, words = self._store, ids_in(ids)
        if store.shared:
            gone = store.erase(words, self._follower.clock())
            self._follower.follow()
            return gone
        with self._follower.lock:
            gone = store.erase(words, self._follower.clock())
            if gone:
                self._follower.begin_again()
        return gone

    # -- the log and files -------------------------------------------------------------------

    @classmethod
    def replay(
        cls,
        events: "pl.DataFrame | str | os.PathLike[str]",
        policy: Policy | str | None = None,
        *,
        clock: Callable[[], float] = time.time,
        ids: Ids = "random",
        progress: bool = True,
    ) -> Self:
        """Return the bandit with this log, in memory.

        `events` is a table from `events` or a file from `write_events`. A `policy` that is given
        takes the place of the one that made the log: it learns the same rewards. It must be given
        if it holds Python objects (a function, a scikit-learn estimator), which no log can hold.
        `progress` as in `Bandit`.
        """
        with shown("giro replays a log", wanted=progress) as task:
            store = replayed(read_events(events), policy, task)
        return cls._of(store, policy, clock, ids, progress=progress)

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
        progress: bool = True,
    ) -> Self:
        """Return the bandit in a file written by `save`, ready to go on where it was.

        A file that is damaged, of another kind or of a newer giro is a `BadFile`. `policy` as in
        `replay`. The state in the file is used if this giro behaves as the one that wrote it; if
        not, or if the policy is another or holds Python objects, all rewards are learned again.
        With a `store` the log is copied there, under a `name` that is not taken. `progress` as in
        `Bandit`.
        """
        with shown("giro loads a bandit", wanted=progress):
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
            bandit._follower.keep_snapshot(target)
            return cls._of(target, bandit.policy, clock, ids)

    # -- compiling ahead ---------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """Whether the policy itself decides, and not chance in its place (`at_once`)."""
        return self._state.stand_in is None

    def get_ready(self) -> bool:
        """Compile the policy, or load it from the cache, and have it decide from now on.

        This is for a bandit that was opened `at_once`: others may decide meanwhile. Return whether
        it is ready: not before its first decision, which shows the form of contexts.
        """
        decisions = (event for _, event in self._rows() if isinstance(event, Decided))
        decision = next(decisions, None)
        if decision is None or self._state.schema is None:
            return self.is_ready
        compile_for(decision, self._state)
        self._follower.get_ready()
        return True

    @property
    def is_compiled(self) -> bool:
        """Whether the cache has all that this bandit compiles, so that `get_ready` only loads it.

        Before the first decision: for decisions of any form.
        """
        return are_compiled(self.policy.text, forms_of(self._state.schema))

    def compile_aside(
        self, policy: Policy | str | None = None, *, stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Compile in another process, into the cache that all processes share.

        Compiles the policy, or another `policy` that is to take its place. So an event loop is not
        held up, and `get_ready` only loads. Of several processes that want this at once one
        compiles. Ends early when `stop` says so.
        """
        text = self.policy.text if policy is None else Policy.parse(policy).text
        compile_aside(text, forms_of(self._state.schema), stop)

    def warm_up(self, context: Given = None, *, arms: Arms = None) -> None:
        """Compile ahead for decisions like this one, so that the first does not wait.

        The context and arms are an example, as `decide` would get them; nothing is noted.
        """
        with self._follower.lock:
            state = self._state
            schema = state.schema or fitted(context, arms, state.setting.empty_schema())
            request = encoded(Request(None, context, arms), state, schema)
            live = state.fresh(schema)
        warm_up(live, state.setting, request.offer())
