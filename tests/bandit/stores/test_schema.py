"""Tables: what is asked for often has an index."""

from pathlib import Path
from typing import Any

import pytest
from bandit.stores.events import decided

from giro.bandit.stores import _schema as schema
from giro.bandit.stores import opened
from giro.errors import BadFile

WHERE = "SELECT {} FROM giro_events WHERE bandit = 1 AND "


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (WHERE.format("count(*)") + f"kind = {schema.FORM}", "giro_forms"),
        (WHERE.format("reward") + f"kind = {schema.DECISION} AND id = 'x'", "giro_decisions"),
        (WHERE.format("value") + f"kind = {schema.REPORT} AND id = 'x'", "giro_reports"),
        (
            WHERE.format("id") + f"kind = {schema.DECISION} AND reward IS NULL AND time <= 1",
            "giro_waiting",
        ),
    ],
)
def test_no_query_scans_the_log(tmp_path: Path, query: str, index: str) -> None:
    store: Any = opened(f"sqlite:///{tmp_path}/x.db", "x")
    store.append([decided("a")])
    plan = " ".join(row[-1] for row in store._query(f"EXPLAIN QUERY PLAN {query}"))
    assert f"INDEX {index}" in plan
    assert "SCAN" not in plan
    store.close()


def test_tables_that_are_up_to_date_need_nothing() -> None:
    types = {"key": "INTEGER", "real": "REAL", "blob": "BLOB"}
    assert len(schema.statements(0, types)) == 12
    assert schema.statements(schema.VERSION, types) == []
    with pytest.raises(BadFile, match="changed by a newer giro"):
        schema.check_version(schema.VERSION + 1)
