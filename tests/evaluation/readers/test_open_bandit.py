"""The layout of the Open Bandit data."""

from pathlib import Path

import polars as pl
import pytest
from evaluation.readers.small_table import TABLE, same

from giro import BadParameter
from giro.evaluation import read_log
from giro.features import Columns

OPEN_BANDIT = """\
,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0
0,2019-11-24 00:00:00.004101+00:00,79,3,0,0.0125,81ce,0.0
1,2019-11-24 00:00:00.011190+00:00,14,1,1,0.0125,81ce,1.0
2,2019-11-24 00:00:00.024400+00:00,79,2,0,0.025,4ae3,0.0
"""


def test_the_open_bandit_layout_is_read(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text(OPEN_BANDIT)
    log = read_log(path)
    assert same(log, read_log(path, format="open-bandit"))
    assert log.arm_names == ("14", "79")
    assert log.arm.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [0.0, 1.0, 0.0]
    assert log.probability.tolist() == [0.0125, 0.0125, 0.025]
    assert isinstance(log.schema.context, Columns)
    assert log.schema.context.names() == [*4 * ["position"], *3 * ["user_feature_0"]]
    kinds = [("1", "2", "3", None), ("4ae3", "81ce", None)]
    assert [feature.kind for feature in log.schema.context.features] == kinds
    rows = [[0, 0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0]]
    assert log.contexts.tolist() == rows


def test_the_names_of_the_open_bandit_pipeline_are_read() -> None:
    columns = {"action": [0, 1], "position": [0, 0], "reward": [1, 0], "pscore": [0.5, 0.25]}
    log = read_log(columns, format="open-bandit")
    assert log.probability.tolist() == [0.5, 0.25]
    with pytest.raises(BadParameter, match="has a column click or reward"):
        read_log({"item_id": [1], "pscore": [1.0]}, format="open-bandit")


ITEMS = """\
,item_id,item_feature_0,item_feature_1
0,7,0.5,shoe
1,79,-1.5,hat
2,14,0.25,shoe
"""


def test_an_open_bandit_folder_is_read_with_the_features_of_its_items(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "all.csv").write_text(OPEN_BANDIT)
    (folder / "item_context.csv").write_text(ITEMS)
    log = read_log(folder)
    assert same(log, read_log(folder / "all.csv"))
    assert log.arm_names == ("7", "79", "14")  # also an item that was never shown
    assert log.arm.tolist() == [1, 2, 1]
    assert log.arm_features is not None
    assert log.arm_features.tolist() == [[0.5, 0, 1, 0], [-1.5, 1, 0, 0], [0.25, 0, 1, 0]]
    assert isinstance(log.schema.arms, Columns)
    assert log.schema.arms.names() == ["item_feature_0", *3 * ["item_feature_1"]]


def test_open_bandit_events_are_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text(OPEN_BANDIT)
    first, *lines = OPEN_BANDIT.splitlines()
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text("\n".join([first, *reversed(lines)]))
    assert same(read_log(shuffled), read_log(path))


def test_a_table_beside_a_file_of_items_is_read_as_ever(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_csv(tmp_path / "log.csv")
    (tmp_path / "item_context.csv").write_text(ITEMS)
    assert same(read_log(tmp_path / "log.csv"), read_log(TABLE))
