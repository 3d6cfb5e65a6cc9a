"""Bandit: arms by name, decide now, reward later, save and load."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from giro.bandit import events as tables
from giro.bandit import file
from giro.bandit.core import Arms, Core, checked_names, decision_in
from giro.bandit.decision import Decision
from giro.bandit.log import PENDING, Log, column
from giro.bandit.setting import Setting
from giro.errors import BadParameter
from giro.features import Encoder, Given
from giro.live import LivePolicy
from giro.policy import Policy

if TYPE_CHECKING:
    import polars as pl


class Bandit:
    """Chooses among named arms, and learns from rewards that come minutes or days later.

    >>> bandit = Bandit(["red", "green"], "giro:a=1/3", seed=7)
    >>> decision = bandit.decide()
    >>> decision.arm in ("red", "green"), decision.propensity
    (True, 0.5)
    >>> bandit.reward(decision.id, 1.0)

    `policy` is any policy of giro or its text; `default` is Giro, or with contexts or features of
    arms RandUCB around several models (see `giro.policies.Default`). The other parameters:

    - `seed`: the same seed and the same calls give the same decisions.
    - `reward_range`: the lowest and the highest reward there can be; policies see them as 0 and 1.
    - `rounds`: how many rewards are expected. Only a few policies plan with it (as ε-greedy with
      `share`) and they need it; when that many came, they plan for twice as many.
    - `propensities`: whether the probabilities of all arms are found. Many policies' are known
      exactly and worked out when read. For the others the policy chooses `votes` times, and the arm
      is drawn from the shares of these votes mixed with a `floor`; with False such a policy just
      chooses, which is faster and closer to its paper, and no decision has a propensity.
    - `floor`: the probability of taking any arm instead of the policy's, so that no propensity is
      less than floor / arms. By default 0.01 where votes are taken, otherwise 0.
    - `features`: how contexts given as mappings become numbers: for each name "number", a list of
      words (one column each, and one for all other words), or "hashed:32" (words to 32 columns).
      Without it the first context decides: numbers stay, words are hashed to 16 columns. Decided
      once, for all contexts. Any name may be missing in a context, or be None.
    - `standardise`: whether the policy sees numbers of contexts and arms less their mean and over
      their standard deviation, both of the rewards learned so far; a missing number is then the
      mean, and otherwise 0. The log holds what was given.
    - `first_decisions`: how many decisions an arm gets before its first reward is known; then it is
      left out until that comes (or `expire` gives it), provided that another arm has a reward. Most
      policies would take a new arm every time until then. None for no limit.
    - `name`: what the ids of decisions start with; by default six letters made from the parameters.
    - `clock`: where the time comes from, in seconds; `time.time` by default.

    A bandit is its log of events (`events`): the state of the policy follows from the rewards in
    the order they came. Arms that come and go, and decisions among some of them, cost nothing
    extra. One bandit may be used from several threads.
    """

    def __init__(
        self,
        arms: Iterable[str],
        policy: Policy | str = "default",
        *,
        seed: int = 0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        rounds: int | None = None,
        propensities: bool = True,
        votes: int = 100,
        floor: float | None = None,
        features: Mapping[str, Any] | None = None,
        standardise: bool = True,
        first_decisions: int | None = 10,
        name: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Check the parameters and note the first arms."""
        setting = Setting(
            Policy.parse(policy),
            seed,
            reward_range,
            rounds,
            propensities,
            votes,
            floor,
            features,
            name,
            first_decisions,
            standardise,
        )
        names = checked_names(arms)
        log = Log(setting.prefix(names))
        for arm in names:
            log.add_arm(arm, clock())
        self._core, self._lock = Core(setting, log, clock), threading.Lock()

    # -- asking ------------------------------------------------------------------------------

    @property
    def policy(self) -> Policy:
        """The policy that chooses."""
        return self._core.setting.policy

    @property
    def arms(self) -> list[str]:
        """The arms that can be chosen, in the order they were added."""
        log = self._core.log
        return [log.arms[arm] for arm in log.active]

    @property
    def n_decisions(self) -> int:
        """How many decisions were made."""
        return self._core.log.n_decisions

    @property
    def n_rewards(self) -> int:
        """How many decisions have a reward, expired ones included."""
        return self._core.log.n_rewards

    def decision(self, id: str) -> Decision:
        """Return an earlier decision, for instance after loading."""
        return self._decision(self._core.number_of(id))

    def pending(self) -> list[Decision]:
        """Return the decisions that wait for their reward, oldest first."""
        with self._lock:
            waiting = np.flatnonzero(column(self._core.log.reward_of) == PENDING)
            return [self._decision(int(number)) for number in waiting]

    def __repr__(self) -> str:
        return (
            f"Bandit({self.arms}, {self.policy.text!r}: {self.n_decisions} decisions, "
            f"{self.n_rewards} rewards)"
        )

    def _decision(self, number: int) -> Decision:
        return decision_in(self._core.log, number, self._propensities_of)

    def _propensities_of(self, number: int) -> dict[str, float] | None:
        with self._lock:
            return self._core.propensities_of(number)

    # -- deciding ----------------------------------------------------------------------------

    def decide(
        self, context: Given = None, *, arms: Arms = None, id: str | None = None
    ) -> Decision:
        """Return the decision which arm to take now.

        `context` is what is known beforehand: a list of numbers, or a mapping of names to numbers
        and words. Either all decisions have one, of the same form, or none has. `arms` restricts
        the choice to some of the active arms for this once; a mapping of their names to what is
        known of each (in the form of a context) lets policies that can learn one model of all arms.
        New arms of which `first_decisions` are under way are left out, unless none of the others
        has a reward. `id` is a name of your own for the decision, such as that of a request.
        """
        core = self._core
        with self._lock:
            try:
                if id is not None:
                    core.check_new_id(id)
                among, offer = core.offered(context, arms)
                number, id, arm, now = core.decide(among, offer, id)
            except BaseException:
                core.forget_first_context()
                raise
        return Decision(id, arm, number, now, self._propensities_of)

    def decide_many(self, contexts: Iterable[Given] | int, *, arms: Arms = None) -> list[Decision]:
        """Return a decision for each context, or as many without; all or, on an error, none.

        None of them can learn from the others: that is the same as calling `decide` for each.
        """
        if isinstance(contexts, int | np.integer) and contexts < 0:
            raise BadParameter(f"decide_many takes contexts or a number >= 0, got {contexts}")
        several = [None] * contexts if isinstance(contexts, int | np.integer) else list(contexts)
        core = self._core
        with self._lock:
            try:
                for context in several:  # all are checked before anything is decided
                    core.offered(context, arms)
                offers = (core.offered(context, arms) for context in several)
                numbers = [core.decide(*offer, None)[0] for offer in offers]
            except BaseException:
                core.forget_first_context()
                raise
            return [self._decision(number) for number in numbers]

    # -- rewarding ---------------------------------------------------------------------------

    def reward(self, id: str, value: float) -> None:
        """Report what a decision brought, in the units of `reward_range`.

        Rewards come in any order. The same report again changes nothing; another value for the same
        decision is an error, as is an unknown id, and then nothing changes either.
        """
        with self._lock:
            number, value = self._core.checked_reward(id, value)
            self._core.reward({number: value}, expired=False)

    def reward_many(self, rewards: Mapping[str, float] | Iterable[tuple[str, float]]) -> None:
        """Report several rewards, all or, on an error, none; they are learned in this order."""
        pairs = rewards.items() if isinstance(rewards, Mapping) else rewards
        with self._lock:
            values: dict[int, float] = {}
            for id, value in pairs:
                number, checked = self._core.checked_reward(id, value)
                if values.setdefault(number, checked) != checked:
                    raise BadParameter(f"two different rewards for the decision '{id}'")
            self._core.reward(values, expired=False)

    def expire(self, older_than: float | timedelta, reward: float = 0.0) -> list[Decision]:
        """Give decisions that were never rewarded a default; return these decisions.

        Meant are those made `older_than` seconds ago or before. The default counts like a reward
        that came now; a later report of another value is an error.
        """
        age = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
        if isinstance(age, str) or not age >= 0.0:
            raise BadParameter(f"older_than is a number of seconds >= 0, got {older_than!r}")
        with self._lock:
            value, log = self._core.checked_value(reward), self._core.log
            waiting = column(log.reward_of) == PENDING
            old = np.flatnonzero(
                waiting & (column(log.decided) <= self._core.clock() - age)
            ).tolist()
            self._core.reward(dict.fromkeys(old, value), expired=True)
            return [self._decision(number) for number in old]

    # -- arms --------------------------------------------------------------------------------

    def add_arm(self, name: str) -> None:
        """Let an arm be chosen from now on; explored from the start, or with its past if retired.

        While no reward of a new arm is known, it gets no more than `first_decisions` decisions.
        """
        with self._lock:
            self._core.add_arm(name)

    def retire_arm(self, name: str) -> None:
        """Never choose an arm again; its past stays, and rewards under way are still accepted."""
        with self._lock:
            self._core.retire_arm(name)

    # -- the log and files -------------------------------------------------------------------

    def events(self, *, propensities: bool = True) -> "pl.DataFrame":
        """Return the log, one row an event, in the order things happened.

        Columns: `number`, `kind` (decision, reward, expired, arm_added, arm_retired), `id` of the
        decision, `time`, `arm`, `reward` as reported, and of decisions `propensity` (of the chosen
        arm), `arms` (that could be chosen), `propensities` (of these), `context` (its features) and
        `features` (of these arms). `setting` stands in the first row: what `replay` needs besides
        the events.

        Probabilities that nobody has read yet are worked out here, which can take a while; with
        `propensities=False` they are left out.
        """
        with self._lock:
            if propensities:
                for number in range(self.n_decisions):
                    self._core.probabilities_of(number)
            return tables.table(self._core.log, self._core.header())

    def write_events(self, path: str | os.PathLike[str], *, propensities: bool = True) -> None:
        """Write what `events` returns to a file: .parquet, or .jsonl with a JSON object a line."""
        tables.write(self.events(propensities=propensities), Path(path))

    @classmethod
    def replay(
        cls,
        events: "pl.DataFrame | str | os.PathLike[str]",
        policy: Policy | str | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Return the bandit with this log: the same state, and the same next decisions.

        `events` is a table from `events` or a file from `write_events`. A `policy` that is given
        takes the place of the one that made the log: it learns the same rewards. It must be given
        if it holds Python objects (a function, a scikit-learn estimator), which no log can hold.
        """
        rows = tables.read(events)
        header = tables.header_of(rows)
        core = _core(header, Log(header["prefix"]), policy, clock)
        constant = bool((header["encoder"] or {}).get("bias"))  # as giro 0.1.0 has it
        tables.fill(core, rows, constant=constant)
        core.log.made_elsewhere = header["made_elsewhere"]
        if core.setting.policy.text != header["setting"]["policy"]:
            core.log.made_elsewhere = core.log.n_decisions
        core.learned_policy()
        return cls._of(core)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bandit to a file, whole or not at all: a crash leaves the old file or the new.

        The file holds the log, and the policy's state as arrays. Probabilities not read before are
        not in it; the loaded bandit still tells them. Others can decide while the file is written.
        """
        with self._lock:
            content = file.packed(self._core)
        file.write(Path(path), content)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        policy: Policy | str | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Return the bandit in a file written by `save`, ready to go on where it was.

        A file that is damaged, of another kind or of a newer giro is a `BadFile`. `policy` as in
        `replay`. The state in the file is used if this giro behaves as the one that wrote it; if
        not, or if the policy is another or holds Python objects, all rewards are learned again.
        """
        content = file.read(Path(path))
        if not isinstance(content, file.Packed):
            return cls.replay(content, policy, clock=clock)
        header = content.header
        core = _core(header, file.log_of(content), policy, clock)
        snapshot = file.state_of(content)
        if core.setting.policy.text != header["setting"]["policy"]:
            core.log.made_elsewhere = core.log.n_decisions
        elif snapshot is not None:
            core.live = LivePolicy.from_snapshot(
                core.setting.policy, *snapshot, seed=core.setting.seed, numbers=core.numbers()
            )
        core.learned_policy()
        return cls._of(core)

    @classmethod
    def _of(cls, core: Core) -> Self:
        bandit = cls.__new__(cls)
        bandit._core, bandit._lock = core, threading.Lock()
        return bandit


def _core(
    header: Mapping[str, Any], log: Log, policy: Policy | str | None, clock: Callable[[], float]
) -> Core:
    """Return the core of a log, with nothing learned."""
    core = Core(Setting.from_json(header["setting"], policy), log, clock)
    encoders = (header["encoder"], header["arm_encoder"])
    core.encoder, core.arm_encoder = (e and Encoder.from_json(e) for e in encoders)
    return core
