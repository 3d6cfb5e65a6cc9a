"""`giro evaluate`."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from cli.conftest import Giro

from giro import Bandit, evaluate
from giro.seeds import stream

ARMS = ("red", "green")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A uniform log of two arms with two features, as a table."""
    rng = stream(5)
    arm = rng.integers(0, 2, 300)
    columns = {
        "arm": [ARMS[i] for i in arm],
        "reward": (rng.random(300) < np.array([0.2, 0.7])[arm]).astype(int),
        "probability": np.full(300, 0.5),
        "context_x": rng.random(300),
        "context_y": rng.random(300),
    }
    path = tmp_path / "log.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def test_records_are_the_numbers_of_evaluate(giro: Giro, log: Path) -> None:
    options = ("--seed", 3, "--level", 0.9, "--clip", 1.5, "--votes", 20)
    done = giro("evaluate", log, "--policy", "ucb1", "--policy", "always:red", *options, "--json")
    assert done.status == 0
    same: dict[str, Any] = {"seed": 3, "level": 0.9, "clip": 1.5, "votes": 20}
    rows = [row for text in ("ucb1", "always:red") for row in evaluate(log, text, **same).rows]
    assert [record["value"] for record in done.records] == [row.value for row in rows]
    assert [record["high"] for record in done.records] == [row.high for row in rows]
    assert [record["policy"] for record in done.records] == ["ucb1"] * 3 + ["always:red"] * 3
    assert {(record["seed"], record["level"]) for record in done.records} == {(3, 0.9)}


def test_the_table_shows_what_is_needed_to_repeat_it(giro: Giro, log: Path) -> None:
    lines = giro("evaluate", log, "--policy", "logged", "--replay").out.splitlines()
    assert lines[0] == f"log      {log}"
    assert lines[1] == "events   300"
    assert lines[2] == "level    0.95"
    assert lines[3].startswith("seed     0   giro ")
    titles = "policy estimator value se low high events effective note".split()
    assert lines[5].split() == titles
    assert [line.split()[1] for line in lines[6:]] == ["ips", "snips", "dr", "replay"]


def test_replay_and_estimators_can_be_asked_for(giro: Giro, log: Path) -> None:
    words = ("evaluate", log, "--policy", "ucb1", "--json")
    (record,) = giro(*words, "--estimator", "replay").records
    (kept,) = evaluate(log, "ucb1", estimators=["replay"]).rows
    assert (record["estimator"], record["value"]) == ("replay", kept.value)
    both = giro(*words, "--estimator", "dr", "--replay").records
    assert [record["estimator"] for record in both] == ["dr", "replay"]


def test_columns_are_named_by_options(giro: Giro, log: Path, tmp_path: Path) -> None:
    names = {"arm": "item", "reward": "y", "probability": "p", "context_x": "ux", "context_y": "uy"}
    other = tmp_path / "other.parquet"
    pl.read_csv(log).rename(names).write_parquet(other)
    columns = ("--arm", "item", "--reward", "y", "--probability", "p")
    wanted = giro("evaluate", log, "--policy", "always:red", "--json").records
    for context in ("u", "ux,uy"):
        words = ("--policy", "always:red", *columns, "--context", context, "--json")
        assert giro("evaluate", other, *words).records == wanted


def test_features_of_actions_are_hashed_on_request(giro: Giro, log: Path, tmp_path: Path) -> None:
    path = tmp_path / "vw.dsjson"
    line = {"_labelIndex": 0, "_label_cost": -1.0, "_label_probability": 0.5, "a": [1, 2]}
    line |= {"p": [0.5, 0.5], "c": {"hour": 3, "_multi": [{"topic": "sport"}, {"topic": "art"}]}}
    path.write_text("\n".join(json.dumps(line | {"_label_cost": cost}) for cost in (0, 1, 0, 1)))
    words = ("--reward-range=-1,0", "--estimator", "ips", "--json")
    (row,) = giro("evaluate", path, "--policy", "squarecb", "--hashed", *words).records
    assert row["events"] == 4
    refused = giro("evaluate", path, "--policy", "lin-ucb", "--hashed", *words)
    assert (refused.status, "needs features in fixed columns" in refused.error) == (2, True)
    assert giro("evaluate", path, "--policy", "lin-ucb", "--columns", *words).status == 0
    refused = giro("evaluate", log, "--policy", "squarecb", "--hashed")
    assert (refused.status, "only features in logs of Vowpal" in refused.error) == (2, True)


def test_costs_of_vw_are_evaluated(giro: Giro, tmp_path: Path) -> None:
    line = {
        "_labelIndex": 1,
        "_label_cost": 3,
        "_label_probability": 0.5,
        "c": {"_multi": [{}, {}]},
    }
    other = line | {"_labelIndex": 0, "_label_cost": 1}
    path = tmp_path / "vw.json"
    path.write_text("\n".join(map(json.dumps, [line, other] * 20)))
    words = ("--policy", "always:2", "--policy", "ucb1", "--reward-range=-3,0", "--json")
    done = giro("evaluate", path, *words)
    assert done.status == 0
    assert done.records[1]["value"] == -3.0
    assert giro("evaluate", path, "--format", "vw", *words).out == done.out


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_forest_is_drawn(giro: Giro, log: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"forest.{ending}"
    done = giro("evaluate", log, "--policy", "logged", "--policy", "always:red", "--plot", path)
    assert done.status == 0
    assert done.error == f"wrote {path}\n"
    assert path.stat().st_size > 1000


def test_what_is_not_known_is_null(giro: Giro, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("arm,reward,probability\na,1,0.5\n")
    record = giro("evaluate", path, "--policy", "always:a", "--json").records[0]
    assert (record["value"], record["se"]) == (2.0, None)
    assert not math.isnan(record["effective"])


REFUSED = {
    "{folder}/none.csv --policy ucb1": "there is no file",
    "{log}": "--policy",
    "{log} --policy gyro": "no policy is called 'gyro'; did you mean 'giro'?",
    "{log} --policy always:blue": "no arm is called 'blue'",
    "{log} --policy ucb1 --arm item": "the log has no column 'item'",
    "{log} --policy ucb1 --reward arm": "in column 'arm'; expected a number",
    "{log} --policy ucb1 --probability reward": "has the probability 0.0",
    "{log} --policy ucb1 --context a,b": "no column 'a'",
    "{log} --policy ucb1 --level 2": "0 < level < 1, got level=2",
    "{log} --policy ucb1 --clip -1": "a finite clip > 0, or none, got clip=-1",
    "{log} --policy ucb1 --reward-range 1": "two numbers like 0,50",
    "{log} --policy ucb1 --reward-range 0,0.5": "policies learn from rewards in [0, 0.5]",
    "{log} --policy ucb1 --seed -1": "a whole number seed >= 0",
    "{log} --policy ucb1 --votes 0": "a whole number votes >= 1",
    "{log} --policy ucb1 --estimator isp": "no estimator is called 'isp'; did you mean 'ips'?",
    "{log} --policy ucb1 --format csv": "no format is called 'csv'; there are: auto, ",
    "{log} --policy ucb1 --format giro": "the log has no column 'number'",
    "{log} --policy ucb1 --format open-bandit": "an Open Bandit log has a column",
    "{log} --policy ucb1 --format vw": "is not JSON",
    "{log} --policy ucb1 --plot x.gif": "a picture is a .png, .svg or .pdf file",
    "{skewed} --policy ucb1 --replay": "replay needs a log that chose each of 2 arms",
}


@pytest.mark.parametrize("words", REFUSED)
def test_bad_input_is_refused_in_one_sentence(
    giro: Giro, log: Path, tmp_path: Path, words: str
) -> None:
    skewed = tmp_path / "skewed.csv"
    pl.read_csv(log).with_columns(probability=pl.lit(0.6)).write_csv(skewed)
    done = giro("evaluate", *words.format(log=log, folder=tmp_path, skewed=skewed).split())
    assert done.status == 2
    assert done.out == ""
    assert REFUSED[words] in done.error
    assert done.error.startswith("giro: ")
    assert done.error.count("\n") == 1


def test_an_open_bandit_folder_or_file_is_evaluated(giro: Giro, tmp_path: Path) -> None:
    folder = tmp_path / "men"
    folder.mkdir()
    lines = ["timestamp,item_id,position,click,propensity_score,user_feature_0"]
    lines += [f"2019-11-24 00:00:{i:02d},{i % 2},{1 + i % 3},{i % 2},0.5,a" for i in range(40)]
    (folder / "men.csv").write_text("\n".join(lines))
    (folder / "item_context.csv").write_text("item_id,item_feature_0\n0,0.5\n1,0.25\n2,1.0\n")
    for path in (folder, folder / "men.csv"):
        done = giro("evaluate", path, "--policy", "always:1", "--estimator", "snips", "--json")
        assert done.status == 0
        assert [record["value"] for record in done.records] == [1.0]


def test_contexts_that_are_named_one_by_one_all_count(giro: Giro, log: Path) -> None:
    words = ("evaluate", log, "--policy", "lin-ucb", "--json", "--estimator", "dr")
    together = giro(*words, "--context", "context_x,context_y").records
    assert giro(*words, "--context", "context_x", "--context", "context_y").records == together
    assert giro(*words, "--context", "context_y").records != together


def test_a_bandit_in_a_store_is_evaluated(giro: Giro, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/shop.db"
    with Bandit(ARMS, "uniform", name="button", store=store) as bandit:
        bandit.reward_many([(decision.id, 1.0) for decision in bandit.decide_many(20)])
        wanted = [row.value for row in evaluate(bandit.events(), "always:red").rows]
    words = ("evaluate", store, "--policy", "always:red", "--json")
    assert [record["value"] for record in giro(*words).records] == wanted
    Bandit(ARMS, name="other", store=store).close()
    assert [record["value"] for record in giro(*words, "--name", "button").records] == wanted
    refused = giro(*words)
    assert (refused.status, "there are ['button', 'other']" in refused.error) == (2, True)
