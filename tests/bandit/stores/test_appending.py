"""The function of PostgreSQL that appends."""

import pytest
from bandit.stores.events import Make, decided

from giro.bandit.stores import _appending


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
def test_tables_of_an_older_version_get_the_function(make: Make) -> None:
    store = make()
    database = store.database  # type: ignore[attr-defined]
    with database.pool.one() as connection:
        connection.execute(f"DROP FUNCTION {_appending.NAME}")
        connection.execute("UPDATE giro_version SET version = 2")
    database.bring_up_to_date()
    assert store.append([decided("a")]).first == 1
    query = "SELECT proname FROM pg_proc WHERE proname LIKE 'giro%'"
    assert store._query(query.replace("%", "%%")) == [(_appending.NAME,)]  # type: ignore[attr-defined]
