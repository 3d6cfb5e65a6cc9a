"""Arms that come with each decision, features by name, and rankings."""

import itertools
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bandit.clock import Clock, chances_of, counted
from laws import assert_follows

from giro import BadParameter, Bandit, GiroError
from giro.bandit import state as state_module
from giro.features import Columns, Hashed
from giro.hashing import code_of
from giro.live import LivePolicy
from giro.offer import Offer
from giro.policy import arrays_of

POLICY = "giro-ensemble:model=[hashed:bits=10],replicas=5"
USER = {"user": {"age": 31, "from": "it"}, "hour": 14}
ARTICLES = {
    "a1": {"topic": "sport", "length": 800},
    "b7": {"topic": "politics", "length": 350},
    "c2": {"topic": "sport", "length": 100},
}


def opened(policy: str = POLICY, **rest: Any) -> Bandit:
    """Return a bandit that does not know its arms beforehand."""
    options: dict[str, Any] = {"seed": 3, "clock": Clock(), "ids": counted()}
    return Bandit(policy=policy, **(options | rest))


def taught(bandit: Bandit, rounds: int = 30) -> Bandit:
    """Return the bandit after rewards for sport; arms have new names all the time."""
    for i in range(rounds):
        arms = {f"{name}-{i}": known for name, known in ARTICLES.items()}
        decision = bandit.decide(USER, arms=arms)
        bandit.reward(decision.id, 0.9 if arms[decision.arm]["topic"] == "sport" else 0.1)
    return bandit


def arrays(bandit: Bandit) -> dict[str, np.ndarray]:
    live = bandit._state.live
    assert live is not None
    return arrays_of(live.state) or {}


def assert_same(one: Bandit, other: Bandit) -> None:
    """Check that two bandits are in the same state and decide the same."""
    mine, its = arrays(one), arrays(other)
    assert mine.keys() == its.keys()
    for path in mine:
        np.testing.assert_array_equal(mine[path], its[path])
    assert one.events().equals(other.events())
    assert one.summary().equals(other.summary())


# -- what features are for -----------------------------------------------------------------------


@pytest.mark.parametrize("policy", [POLICY, "squarecb:gamma=100", "lin-ucb:scale=0.1"])
def test_an_arm_never_seen_is_judged_by_its_features(policy: str) -> None:
    bandit = taught(opened(policy), 150)
    new = {"x": {"topic": "politics", "length": 300}, "y": {"topic": "sport", "length": 300}}
    assert chances_of(bandit.decide(USER, arms=new))["y"] > 0.7


def test_what_a_user_likes_is_learned_by_products() -> None:
    bandit = opened("epsilon-greedy:epsilon=0.2,model=[hashed:bits=14]")
    arms = {"s": {"topic": "sport"}, "p": {"topic": "politics"}}
    likes = {"it": "s", "de": "p"}
    for i in range(300):
        country = "it" if i % 2 else "de"
        decision = bandit.decide({"from": country}, arms=arms)
        bandit.reward(decision.id, float(decision.arm == likes[country]))
    for country, liked in likes.items():
        decision = bandit.decide({"from": country}, arms=arms)
        assert decision.propensities == pytest.approx(
            {liked: 0.9, ({"s", "p"} - {liked}).pop(): 0.1}
        )


def test_without_products_all_users_are_alike() -> None:
    bandit = opened("epsilon-greedy:epsilon=0.2,model=[hashed:bits=14]", interactions=[])
    arms = {"s": {"topic": "sport"}, "p": {"topic": "politics"}}
    for i in range(100):
        decision = bandit.decide({"from": "it" if i % 2 else "de"}, arms=arms)
        bandit.reward(decision.id, float((decision.arm == "s") == (i % 2 == 1)))
    of = [bandit.decide({"from": country}, arms=arms).propensities for country in ("it", "de")]
    assert of[0] == of[1]


def test_parts_of_interactions_name_the_same_features_hashed_or_not() -> None:
    context = {"user": {"age": 3.0, "from": "it"}, "users": 2.0, "hour": 14}
    known = {"a": {"about": {"topic": "sport", "length": 3.0}, "price": 1.0}}
    for text, features in (
        ("user*about", ("user.age", "user.from", "about.topic", "about.length")),
        ("user.age*about.topic", ("user.age", "about.topic")),
        ("context*price", ("user.age", "user.from", "users", "hour", "price")),
        ("hour*arm", ("hour", "about.topic", "about.length", "price")),
    ):
        dense = Bandit(policy="lin-ucb", interactions=[text])
        dense.decide(context, arms=known)
        schema, part = dense._state.schema, text.split("*")
        assert schema is not None
        assert isinstance(schema.context, Columns)
        assert isinstance(schema.arms, Columns)
        of_context = schema.context.columns_in(part[0], "context")
        of_arm = schema.arms.columns_in(part[1], "arm")
        products = [(i, j) for i, j in schema.layout if i >= 0 and j >= 0]
        assert products == list(itertools.product(of_context, of_arm))
        of = [*of_context, *of_arm]
        width = {"user.from": 16, "about.topic": 16}  # hashed to columns
        assert len(of) == sum(width.get(name, 1) for name in features)
        hashed = Hashed((text,))
        codes = [*hashed.context(context).column.tolist(), *hashed.arms(known).column.tolist()]
        taking_part = [code for code in codes if code >> 32 == 1]
        assert len(taking_part) == len(features)


def test_a_part_that_names_nothing_yet_is_warned_of_once() -> None:
    bandit = opened(POLICY, interactions=["usr*topic", "context*arm", "user.from*length.x"])
    with pytest.warns(UserWarning, match=r"called 'usr', 'length\.x': .* misspelt\?"):
        bandit.decide(USER, arms=ARTICLES)
    bandit.decide(USER, arms=ARTICLES)


@pytest.mark.parametrize("policy", ["lin-ucb", POLICY])
def test_everything_may_be_multiplied_where_nothing_is_known(policy: str) -> None:
    bandit = opened(policy, interactions=["context * arm"])
    assert bandit.decide(arms={"a": {"length": 1}, "b": {"length": 2}}).arm in ("a", "b")


@pytest.mark.parametrize(
    ("interaction", "absent"), [("usr*topic", "usr"), ("user*topics", "topics")]
)
def test_parts_that_name_nothing_in_columns_are_warned_of_and_wait(
    interaction: str, absent: str
) -> None:
    bandit = opened("lin-ucb", interactions=[interaction])
    with pytest.warns(UserWarning, match=rf"called '{absent}': .* misspelt\?"):
        bandit.decide(USER, arms=ARTICLES)
    assert not any(i >= 0 and j >= 0 for i, j in layout_of(bandit))
    came = {"usr": 3.0} if absent == "usr" else {}
    bandit.decide(USER | came, arms={"a": {"topic": "sport", "topics": 2.0}})
    assert any(i >= 0 and j >= 0 for i, j in layout_of(bandit))
    with pytest.raises(BadParameter, match="multiply features of arms"):
        Bandit(["a", "b"], "lin-ucb", interactions=[interaction]).decide(USER)


def layout_of(bandit: Bandit) -> tuple[tuple[int, int], ...]:
    """Return the columns of the policy's regression."""
    live = bandit._state.live
    assert live is not None
    assert live.shape.layout is not None
    return live.shape.layout


@pytest.mark.parametrize(
    "unknown",
    [np.float32("nan"), Decimal("NaN"), np.array(math.nan), np.full(2, np.float32("nan"))],
)
def test_what_is_not_known_leaves_nothing_behind(unknown: Any) -> None:
    with_gaps, without = taught(opened(), 5), taught(opened(), 5)
    for bandit, arms in (
        (with_gaps, {"x": {"t": "u", "n": unknown}}),
        (without, {"x": {"t": "u"}}),
    ):
        bandit.reward(bandit.decide(USER, arms=arms).id, 1.0)
    for path, array in arrays(with_gaps).items():
        np.testing.assert_array_equal(array, arrays(without)[path])


def test_numpy_has_the_same_features_as_python() -> None:
    ours = {"b": True, "n": 2.5, "list": [1.0, 2.0]}
    theirs = {"b": np.True_, "n": np.array(2.5), "list": np.array([1.0, 2.0], np.float32)}
    for one, other in zip(Hashed().context(ours), Hashed().context(theirs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_dense_features_that_lie_too_deep_are_refused() -> None:
    deep: dict[str, Any] = {}
    deep["again"] = deep
    for context, arms in ((deep, ARTICLES), (USER, {"a": deep})):
        with pytest.raises(BadParameter, match="more than 10 deep"):
            opened("lin-ucb").decide(context, arms=arms)


def test_interactions_of_dense_models_are_named_by_features() -> None:
    bandit = Bandit(["a", "b"], "lin-ucb:scale=1", interactions=["age*colour"], seed=1)
    known = {"a": {"colour": "red", "price": 1.0}, "b": {"colour": "blue", "price": 2.0}}
    bandit.decide({"age": 3.0, "sex": "f"}, arms=known)
    products = [(i, j) for i, j in layout_of(bandit) if i >= 0 and j >= 0]
    assert products == [(0, j) for j in range(16)]  # one column by those of a hashed word
    with pytest.warns(UserWarning, match="colur"):
        Bandit(["a", "b"], "lin-ucb", interactions=["age*colur"]).decide({"age": 1.0}, arms=known)


# -- the log -------------------------------------------------------------------------------------


def test_files_replays_and_stores_give_the_same_bandit(where: str | None, tmp_path: Path) -> None:
    bandit = taught(opened(reward_range=(0, 1)))
    bandit.save(tmp_path / "x.giro")
    assert_same(bandit, Bandit.load(tmp_path / "x.giro", clock=Clock()))
    for name in ("x.parquet", "x.jsonl"):
        bandit.write_events(tmp_path / name)
        assert_same(bandit, Bandit.replay(tmp_path / name, clock=Clock()))
    if where is None:
        return
    kept = taught(opened(name="news", store=where))
    assert_same_learning(bandit, kept)
    kept.keep()
    kept.close()
    again = Bandit.open(where, "news", clock=Clock(), ids=counted("next "))
    assert_same_learning(bandit, again)
    assert again.decision("3").arms == tuple(f"{name}-3" for name in ARTICLES)
    gone = again.erase(["3", "4"])
    assert gone == 4
    assert again.n_rewards == 28
    again.close()


def assert_same_learning(one: Bandit, other: Bandit) -> None:
    mine, its = arrays(one), arrays(other)
    for path in mine:
        np.testing.assert_array_equal(mine[path], its[path])
    assert one.summary().equals(other.summary())
    told = ["id", "arm", "reward", "propensity", "arms"]
    told += ["context", "context_codes", "features", "feature_codes"]
    assert one.events().select(told).rows() == other.events().select(told).rows()


def test_the_same_id_and_request_is_the_same_decision() -> None:
    bandit = opened()
    first = bandit.decide(USER, arms=ARTICLES, id="r1")
    assert bandit.decide(USER, arms=ARTICLES, id="r1") == first
    with pytest.raises(BadParameter, match="another request"):
        bandit.decide({"user": {"age": 32}}, arms=ARTICLES, id="r1")
    with pytest.raises(BadParameter, match="another request"):
        bandit.decide(USER, arms=ARTICLES | {"a1": {"topic": "art"}}, id="r1")


def test_only_arms_chosen_last_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "MOST_NAMES", 5)
    bandit = opened()
    decisions = [bandit.decide(arms={f"n{i}": {"topic": "x"}}) for i in range(12)]
    for decision in decisions:
        bandit.reward(decision.id, 1.0)
    table = bandit.summary()
    assert sorted(table["arm"]) == [f"n{i}" for i in range(10, 12)] + ["n7", "n8", "n9"]
    assert table["rewards"].to_list() == [1] * 5
    assert bandit.n_rewards == 12
    assert bandit.apprenticeship().earned == 1.0
    assert sum(table["last_day"]) == pytest.approx(1.0)
    assert_same(bandit, Bandit.replay(bandit.events(), clock=Clock()))


def test_a_closed_set_of_arms_can_have_hashed_features_or_none() -> None:
    bandit = Bandit(["a", "b"], POLICY, seed=1, ids=counted(), clock=Clock())
    for i in range(40):
        decision = bandit.decide({"day": i % 7})
        bandit.reward(decision.id, float(decision.arm == "b"))
    assert chances_of(bandit.decide({"day": 3}))["b"] > 0.5
    bandit.decide({"day": 3}, arms={"a": {"colour": "red"}, "b": {"colour": "blue"}})
    bandit.add_arm("c")
    assert set(bandit.decide({}, arms=["a", "c"]).arms) == {"a", "c"}


def test_collisions_are_those_of_what_still_counts_in_a_window() -> None:
    policy = "epsilon-greedy:epsilon=0.1,model=[hashed:bits=10],window=8"
    bandit = opened(policy, interactions=[])
    for i in range(40):
        bandit.reward(bandit.decide(arms={"a": {"word": f"w{i}"}}).id, 0.3)
    assert bandit.collisions().used <= 1 + 8 + 1


def test_collisions_are_counted() -> None:
    bandit = opened("epsilon-greedy:epsilon=0.1,model=[hashed:bits=10]", interactions=[])
    with pytest.raises(BadParameter, match="no table"):
        bandit.collisions()
    for i in range(512):
        bandit.reward(bandit.decide(arms={"a": {"word": f"w{i}"}}).id, 0.3)
    columns, used, features, share = bandit.collisions()
    assert columns == 1024
    assert features == pytest.approx(513, rel=0.1)
    assert share == pytest.approx(used / 1024, abs=0.01)
    with pytest.raises(BadParameter, match="no table"):
        Bandit(["a"], "thompson").collisions()


# -- rankings ------------------------------------------------------------------------------------


def test_slots_are_filled_without_repetition_and_rewarded_one_by_one() -> None:
    bandit = taught(opened())
    ranking = bandit.rank(USER, arms=ARTICLES, slots=3)
    assert sorted(decision.arm for decision in ranking) == sorted(ARTICLES)
    assert [len(decision.arms) for decision in ranking] == [3, 2, 1]
    assert ranking[2].propensity == 1.0
    assert len({decision.id for decision in ranking}) == 3
    bandit.reward(ranking[1].id, 1.0)
    assert {decision.id for decision in bandit.pending()} == {ranking[0].id, ranking[2].id}


@pytest.mark.parametrize("policy", [POLICY, "squarecb:gamma=3,model=[hashed:bits=10]", "thompson"])
def test_a_slot_is_as_likely_as_it_says_given_those_before(policy: str) -> None:
    bandit = Bandit(list("abc"), policy, seed=2, ids=counted(), clock=Clock())
    for i in range(12):
        bandit.reward(bandit.decide(arms=["abc"[i % 3]]).id, i % 3 / 2)
    rankings = [bandit.rank(slots=2) for _ in range(2000)]
    first = chances_of(rankings[0][0])
    assert_follows([list("abc").index(r[0].arm) for r in rankings], list(first.values()))
    for arm in "abc":
        behind = [ranking[1] for ranking in rankings if ranking[0].arm == arm]
        if len(behind) > 100:
            left = chances_of(behind[0])
            assert arm not in left
            drawn = [list(left).index(decision.arm) for decision in behind]
            assert_follows(drawn, list(left.values()))


@pytest.mark.parametrize("policy", [POLICY, "rand-ucb", "default", "giro-ensemble:replicas=9"])
def test_the_slots_of_a_ranking_are_filled_from_scores_that_are_written_once(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rankings() -> list[Any]:
        bandit = opened(policy)
        for i in range(20):
            bandit.reward(bandit.decide(USER, arms=ARTICLES).id, i % 3 / 2)
        ranked = [bandit.rank(USER, arms=ARTICLES, slots=3, id=str(i)) for i in range(20)]
        return [(each.arm, each.propensities) for ranking in ranked for each in ranking]

    score, written = LivePolicy.scores, list[tuple[int, ...]]()

    def noted(self: LivePolicy, offer: Offer, slots: int) -> Any:
        scores = score(self, offer, slots)
        written.append(scores.shape)
        return scores

    monkeypatch.setattr(LivePolicy, "scores", noted)
    from_scores = rankings()
    assert [k for k, _ in written] == [3] * 20
    monkeypatch.setattr(LivePolicy, "scores", lambda self, offer, slots: None)
    assert rankings() == from_scores


def test_a_ranking_asked_for_again_is_the_same() -> None:
    bandit = taught(opened())
    ranking = bandit.rank(USER, arms=ARTICLES, slots=2, id="page")
    assert [decision.id for decision in ranking] == ["page/0", "page/1"]
    assert bandit.rank(USER, arms=ARTICLES, slots=2, id="page") == ranking
    with pytest.raises(BadParameter, match="another request"):
        bandit.rank(USER, arms=ARTICLES, slots=3, id="page")


def test_slots_may_have_features() -> None:
    bandit = opened()
    slots = [{"place": "top"}, {"place": "side"}]
    ranking = bandit.rank(USER, arms=ARTICLES, slots=slots)
    codes = bandit.events().filter(kind="decision")["context_codes"].to_list()
    assert len(ranking) == 2
    assert codes[0][:-1] == codes[1][:-1]
    assert [row[-1] for row in codes] == [code_of("place", "top"), code_of("place", "side")]
    with pytest.raises(BadParameter, match="mappings"):
        bandit.rank([1.0, 2.0], arms=ARTICLES, slots=slots)


def test_an_apprentice_fills_slots_in_the_order_given() -> None:
    bandit = opened(share=0.0)
    ranking = bandit.rank(USER, arms=ARTICLES, slots=3)
    assert [decision.arm for decision in ranking] == list(ARTICLES)


# -- what is refused -----------------------------------------------------------------------------

DEEP: dict[str, Any] = {"x": 1}
for _ in range(20):
    DEEP = {"x": DEEP}


@pytest.mark.parametrize(
    ("context", "arms", "problem"),
    [
        (USER, None, "made without arms"),
        (USER, {}, "not empty"),
        (USER, ["a", "a"], "named twice"),
        (USER, {"a": {"x": math.inf}}, "within"),
        (USER, {"a": {"x": 1e300}}, "within"),
        (USER, {"a": {"x": object()}}, "a number"),
        (USER, {"a": {3: "x"}}, "names of features are words"),
        (USER, {"a": {"u": {3: "x"}}}, "names of features are words"),
        (USER, {"a", "b"}, "not a set"),
        (USER, 5, "a list of names"),
        (USER, {"\ud800": {"x": 1}}, "words as names"),
        (USER, {"a": DEEP}, "deep"),
        (USER, {"": {"x": 1}}, "words as names"),
        ({"user": object()}, ARTICLES, "a number"),
        ("word", ARTICLES, "a list of numbers, or a mapping"),
    ],
)
def test_bad_requests_are_one_error_and_change_nothing(
    context: Any, arms: Any, problem: str
) -> None:
    bandit = taught(opened(), 5)
    before = bandit.events()
    with pytest.raises(GiroError, match=problem):
        bandit.decide(context, arms=arms)
    with pytest.raises(GiroError):
        bandit.rank(context, arms=arms, slots=1)
    assert bandit.events().equals(before)


def test_arms_of_dense_models_need_features() -> None:
    bandit = opened("lin-ucb")
    with pytest.raises(BadParameter, match="knows arms by their features"):
        bandit.decide([1.0], arms=["a", "b"])
    with pytest.raises(BadParameter, match="not one of the arms on offer"):
        bandit.decide([1.0], arms={"a": [1.0], "b": [2.0]}, baseline="c")


def test_too_many_products_of_a_dense_model_are_warned_of() -> None:
    arms = {"a": list(range(30)), "b": list(range(30))}
    with pytest.warns(UserWarning, match="too many products"):
        opened("lin-ucb").decide(list(range(30)), arms=arms)


def test_features_may_change_kind_come_and_go() -> None:
    bandit = taught(opened(), 5)
    every: list[Any] = [
        {"a": {"other": 3}, "b": {}},
        {"a": {"length": "long"}, "b": {"length": math.nan}},
        {"a": None, "b": {"topic": None}},
        {"a": {"word": "\ud800"}, "b": {"word": ""}},
        {f"n{i}": {"topic": f"t{i}"} for i in range(10_000)},
    ]
    for arms in every:
        decision = bandit.decide({}, arms=arms)
        assert sum(chances_of(decision).values()) == pytest.approx(1.0)
        bandit.reward(decision.id, 0.5)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"policy": "thompson"}, "tells arms apart by their names"),
        ({"policy": POLICY, "features": {"a": "number"}}, "leave out features"),
        ({"policy": POLICY, "interactions": ["user"]}, "user\\*item"),
        ({"policy": POLICY, "interactions": "user*item"}, "a list"),
        ({"policy": POLICY, "interactions": [f"a{i}*b" for i in range(40)]}, "19 interactions"),
        ({"arms": ["a", "b"], "policy": "thompson", "interactions": ["a*b"]}, "no use"),
    ],
)
def test_bad_settings_are_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadParameter, match=problem):
        Bandit(**given)


@pytest.mark.parametrize("slots", [2, [{}, {}]])
def test_a_slot_gets_an_arm_that_waits_for_its_first_reward_if_there_is_no_other(
    slots: Any,
) -> None:
    bandit = Bandit(["a", "b"], "thompson", first_decisions=1, seed=1)
    first, second = bandit.decide(arms=["a"]), bandit.decide(arms=["b"])
    bandit.reward(first.id, 1.0)
    assert bandit.decide().arm == first.arm  # the other waits
    assert [each.arm for each in bandit.rank(slots=slots)] == [first.arm, second.arm]


@pytest.mark.parametrize("slots", [0, -1, True, "two", [], 4, 10**15])
def test_bad_slots_are_refused(slots: Any) -> None:
    with pytest.raises(BadParameter, match="slots"):
        opened().rank(USER, arms=ARTICLES, slots=slots)


def test_arms_of_an_open_bandit_are_neither_added_nor_retired() -> None:
    bandit = taught(opened(), 2)
    for call in (bandit.add_arm, bandit.retire_arm):
        with pytest.raises(BadParameter, match="come with each decision"):
            call("a1")


def test_a_log_of_hashed_features_is_not_learned_by_dense_models() -> None:
    bandit = taught(opened(), 3)
    with pytest.raises(GiroError, match="fixed columns"):
        Bandit.replay(bandit.events(), "lin-ucb")
