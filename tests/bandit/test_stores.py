"""Whatever happens, a bandit is the same in memory, in SQLite and in PostgreSQL."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bandit.clock import Clock, chances_of, counted, live_of
from bandit.conftest import KINDS, address
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from giro import BadParameter, Bandit, UnknownName
from giro.bandit import follower as module
from giro.bandit.stores import names_in, opened
from giro.policy import arrays_of

POLICIES = ("giro", "ucb1", "lin-ucb:scale=0.5")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("decide"), st.integers(0, 3)),
        st.tuples(st.just("many"), st.integers(0, 4)),
        st.tuples(st.just("again"), st.integers(0, 20)),
        st.tuples(st.just("reward"), st.integers(0, 20), st.sampled_from([0.0, 1.0])),
        st.tuples(st.just("rewards"), st.integers(0, 20), st.sampled_from([0.0, 1.0])),
        st.tuples(st.just("add"), st.sampled_from("abcdef")),
        st.tuples(st.just("retire"), st.sampled_from("abcdef")),
        st.tuples(st.just("expire"), st.integers(0, 3)),
        st.tuples(st.just("wait"), st.floats(0.0, 2.0)),
        st.tuples(st.just("keep"), st.none()),
        st.tuples(st.just("erase"), st.integers(0, 20)),
        st.tuples(st.just("reopen"), st.none()),
    ),
    max_size=25,
)


class Lived:
    """A bandit in a store, and what is done to it."""

    def __init__(self, policy: str, where: str | None, name: str, **rest: Any) -> None:
        self.where, self.name, self.clock, self.contexts = where, name, Clock(), "lin" in policy
        options: dict[str, Any] = {
            "seed": 4,
            "clock": self.clock,
            "ids": counted(),
            "name": name,
        } | rest
        self.bandit = Bandit(["a", "b", "c"], policy, store=where, **options)
        self.said: list[Any] = []

    def do(self, step: str, *arguments: Any) -> None:
        """Do a step, and note what it says or that it is refused."""
        try:
            self.said.append(getattr(self, step)(*arguments))
        except (BadParameter, UnknownName) as error:
            self.said.append(f"{type(error).__name__}: {error}")

    def context(self, i: int) -> Any:
        return [i / 3.0, 1.0 - i] if self.contexts else None

    def decide(self, i: int) -> Any:
        arms = self.bandit.arms[:i] or None
        decision = self.bandit.decide(self.context(i), arms=arms)
        return decision.id, decision.arm, decision.propensities

    def many(self, n: int) -> Any:
        contexts = [self.context(i) for i in range(n)]
        return [d.arm for d in self.bandit.decide_many(contexts)]

    def again(self, i: int) -> Any:
        return self.bandit.decide(self.context(i % 4), id=f"own {i}").arm

    def reward(self, i: int, value: float) -> None:
        self.bandit.reward(f"{i}", value)

    def rewards(self, i: int, value: float) -> None:
        self.bandit.reward_many([(f"{i}", value), (f"{i + 1}", 1.0), (f"own {i}", value)])

    def add(self, arm: str) -> None:
        self.bandit.add_arm(arm)

    def retire(self, arm: str) -> None:
        self.bandit.retire_arm(arm)

    def expire(self, age: int) -> Any:
        return [decision.id for decision in self.bandit.expire(float(age))]

    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    def keep(self, _: None) -> None:
        self.bandit._follower._keep_snapshot()

    def erase(self, i: int) -> int:
        return self.bandit.erase([f"{i}", f"own {i}"])

    def reopen(self, _: None) -> None:
        if self.where is not None:
            self.bandit.close()
            options: dict[str, Any] = {"clock": self.clock, "ids": self.bandit._new_id}
            self.bandit = Bandit.open(self.where, self.name, **options)

    def facts(self) -> Any:
        """Return all that can be seen of the bandit."""
        bandit, rows = self.bandit, self.bandit.events().drop("setting").rows()
        assert bandit.position == len(rows)
        live = bandit._state.live
        arrays = {} if live is None else arrays_of(live.state) or {}
        state = {path: a.tolist() for path, a in arrays.items() if "workspace" not in path}
        law = None if live is None else bandit.decide(self.context(1), id="last").propensities
        pending = [decision.id for decision in bandit.pending()]
        return rows, bandit.arms, bandit.summary().rows(), pending, state, law


_NAMES = counted("bandit ")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    return {kind: address(kind, tmp_path_factory.mktemp("stores")) for kind in KINDS}


@settings(
    deadline=None,
    max_examples=1_000 if "--thorough" in sys.argv else 30,
    suppress_health_check=list(HealthCheck),
)
@given(steps=STEPS, policy=st.sampled_from(POLICIES))
def test_a_history_gives_the_same_bandit_in_every_store(
    places: dict[str, str | None], steps: list[Any], policy: str
) -> None:
    name = _NAMES()
    lives = [Lived(policy, where, name) for where in places.values()]
    try:
        for step in steps:
            for lived in lives:
                lived.do(*step)
        facts = [lived.facts() for lived in lives]
        assert all(lived.said == lives[0].said for lived in lives)
        for other in facts[1:]:
            np.testing.assert_equal(other, facts[0])
    finally:
        for lived in lives:
            lived.bandit.close()


# -- several processes' worth of bandits on one log ------------------------------------------------


@pytest.fixture
def shared(kind: str, where: str | None) -> Iterator[Callable[..., Bandit]]:
    if where is None:
        pytest.skip("memory belongs to one bandit")
    made: list[Bandit] = []

    def make(policy: str = "thompson", **rest: Any) -> Bandit:
        made.append(Bandit(["a", "b", "c"], policy, name="x", store=where, **rest))
        return made[-1]

    yield make
    for bandit in made:
        bandit.close()


def caught_up(*bandits: Bandit) -> None:
    for bandit in bandits:
        bandit._follower.follow()


def test_bandits_on_one_log_learn_from_each_other(shared: Callable[..., Bandit]) -> None:
    one, two = shared(), shared()
    first = one.decide()
    two.reward(first.id, 1.0)
    caught_up(one, two)
    assert one.n_rewards == two.n_rewards == 1
    assert one.decide(id="q") == two.decide(id="q")
    with pytest.raises(BadParameter, match="already has the reward 1, got 0"):
        one.reward(first.id, 0.0)
    one.reward(first.id, 1.0)
    one.add_arm("d")
    caught_up(two)
    assert two.arms == ["a", "b", "c", "d"]
    two.erase([first.id])
    caught_up(one)
    assert one.n_rewards == 0


def test_followers_take_in_what_others_do_by_themselves(shared: Callable[..., Bandit]) -> None:
    one, two = shared(), shared()
    two.decide()  # it follows from now on
    one.reward(one.decide().id, 1.0)
    arrived = threading.Event()
    while two.n_rewards < 1:  # a test that hangs fails
        arrived.wait(0.01)
    assert two.n_decisions == 2


def test_threads_of_several_bandits_lose_nothing(shared: Callable[..., Bandit]) -> None:
    bandits = [shared(), shared()]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(15):
                decision = bandits[number % 2].decide(id=f"{number} {i}")
                bandits[(number + i) % 2].reward(decision.id, float(i % 2))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    caught_up(*bandits)
    fresh = shared()
    for bandit in bandits:
        assert bandit.n_rewards == fresh.n_rewards == 90
        mine, others = (arrays_of(live_of(each._state).state) or {} for each in (bandit, fresh))
        for path, array in mine.items():
            np.testing.assert_array_equal(array, others[path])


def test_the_form_of_the_first_context_holds_for_all(shared: Callable[..., Bandit]) -> None:
    one, two = shared("lin-ucb:scale=1"), shared("lin-ucb:scale=1")
    one.decide([1.0, 2.0])
    with pytest.raises(BadParameter, match="a context of 2 numbers, got 3"):
        two.decide([1.0, 2.0, 3.0])
    assert two.decide([1.0, 3.0]).arm in "abc"


def test_a_policy_changed_by_one_is_changed_for_all(
    shared: Callable[..., Bandit], where: str | None
) -> None:
    one = shared("ucb1")
    for i in range(9):
        one.reward(one.decide().id, float(i % 2))
    with pytest.raises(BadParameter, match=r"has policy='ucb1.*', got 'thompson"):
        shared("thompson")
    two = Bandit.open(str(where), "x", "thompson")
    caught_up(one)
    assert one.policy == two.policy
    assert one.decide(id="q").propensities == two.decide(id="q").propensities
    assert 0.0 < min(chances_of(one.decide(id="q")).values())
    again = Bandit.open(str(where), "x")
    assert again.policy.name == "thompson"
    for bandit in (two, again):
        bandit.close()
    with pytest.raises(BadParameter, match="has no bandit 'y'"):
        Bandit.open(str(where), "y")


def test_parameters_that_differ_are_refused(shared: Callable[..., Bandit]) -> None:
    shared("ucb1", seed=3)
    with pytest.raises(BadParameter, match="has seed=3, got 4"):
        shared("ucb1", seed=4)


def test_a_snapshot_saves_reading_the_log(
    shared: Callable[..., Bandit], where: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = shared()
    for i in range(20):
        one.reward(one.decide().id, float(i % 2))
    assert list(one._store.snapshots()) == []
    monkeypatch.setattr(module, "_SNAPSHOT_EVERY", (10, 10))
    one.keep()
    assert next(iter(one._store.snapshots())).position == one.position
    read: list[int] = []
    kind = type(one._store)
    original = kind.read

    def noting(self: Any, after: int, n: int) -> Any:
        read.append(after)
        return original(self, after, n)

    monkeypatch.setattr(kind, "read", noting)
    with Bandit.open(str(where), "x") as two:
        assert min(read) == one.position
        assert two.decide(id="q") == one.decide(id="q")


def test_a_bandit_loaded_into_a_store_is_opened_from_a_snapshot(
    shared: Callable[..., Bandit], where: str | None, tmp_path: Path
) -> None:
    one = shared()
    for i in range(20):
        one.reward(one.decide().id, float(i % 2))
    one.save(tmp_path / "x.giro")
    with Bandit.load(tmp_path / "x.giro", name="copy", store=str(where)) as two:
        assert next(iter(two._store.snapshots())).position == one.position
        assert two.decide(id="q").arm == one.decide(id="q").arm


def test_a_state_learned_again_is_kept_when_it_is_closed(
    shared: Callable[..., Bandit], where: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shared() as one:
        one.reward(one.decide().id, 1.0)
        monkeypatch.setattr(type(one._store), "keep", lambda self, snapshot, mark: None)
    monkeypatch.undo()
    with Bandit.open(str(where), "x") as two:
        assert list(two._store.snapshots()) == []
    with Bandit.open(str(where), "x") as three:
        assert next(iter(three._store.snapshots())).position == three.position


# -- rewards that are corrected, or never come -----------------------------------------------------


@pytest.mark.parametrize("kind", ["memory", "sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("how", "expected"), [("last", 0.25), ("sum", 0.875), ("first", 0.5), ("only", 0.5)]
)
def test_several_reports_of_one_reward(where: str | None, how: str, expected: float) -> None:
    clock = Clock()
    options: dict[str, Any] = {
        "reward_wait": 60,
        "reward_aggregation": how,
        "clock": clock,
        "name": "x",
    }
    with Bandit(["a", "b"], "thompson", store=where, **options) as bandit:
        decision, silent = bandit.decide(), bandit.decide()
        for value in (0.5, 0.125, 0.25):
            try:
                bandit.reward(decision.id, value)
            except BadParameter as error:
                assert how == "only", error
        assert bandit.n_rewards == (how in ("first", "only"))
        clock.now += 61.0
        bandit.keep()
        rewards = bandit.events().filter(kind="reward")
        expired = bandit.events().filter(kind="expired")
        assert rewards["reward"].to_list() == [expected]
        assert expired["id"].to_list() == [silent.id]
        assert bandit.pending() == []
        if how != "first":
            with pytest.raises(BadParameter, match="already has the reward"):
                bandit.reward(decision.id, 0.75)


def test_waiting_ends_by_itself_in_memory() -> None:
    clock = Clock()
    bandit = Bandit(["a", "b"], "thompson", reward_wait=10.0, default_reward=1.0, clock=clock)
    old = bandit.decide()
    clock.now += 11.0
    bandit.decide()
    assert bandit.events().filter(kind="expired").select("id", "reward").rows() == [(old.id, 1.0)]


# -- addresses and names -------------------------------------------------------------------------


@pytest.mark.parametrize("store", ["", "shop.db", "mysql://x:secret@y/z", 7, "sqlite:///", None])
def test_other_addresses_are_refused(store: object) -> None:
    with pytest.raises(BadParameter, match="sqlite:///FILE or postgresql://") as caught:
        opened(store, "b")
    assert "secret" not in str(caught.value)


def test_a_bandit_needs_a_name(where: str | None) -> None:
    if where is None:
        return
    for name in ("", None, 3):
        with pytest.raises(
            BadParameter, match="a bandit in a store needs a non-empty word as name"
        ):
            opened(where, name)
    assert names_in(where) == []
    opened(where, "one").close()
    assert names_in(where) == ["one"]
