"""Appending: PostgreSQL's functions that append a group of events, or one, in one call."""

from collections.abc import Iterable

from giro.bandit.stores._schema import DECISION, EVENT, FORM, REPORT, REWARD

LOCKS = 7_416_830_115_201_719  # key of the advisory lock of tables; bandits' come behind it
MOST_MISSED = 200  # events of others that come with the answer

# Whoever changes the function gives it another name, and the tables another version: processes of
# an older giro go on with the old one.
#
# It appends a group if none of its decisions is there, all that it rewards or reports on from
# before (`awaited`) wait, none of its reports with a name is there (`reported`) and, if it has
# forms, there are as many as it expects. Each statement of a function sees what was committed
# before it began, so that what is looked up under the lock is the end of the log. Rows are looked
# up one by one: without statistics PostgreSQL would read all rows of a bandit for `id = ANY`. For
# `reward IS NULL` it would read all decisions that wait, so what is found is looked at here.
#
# Its first row has the position before the group. Events behind `known` follow, if they are few. It
# has no row if nothing was appended. If there are such events, others are appending, too: then the
# commit does not wait for the disk, because the lock is held until it is done, and the caller makes
# it durable. Otherwise nobody waits for the lock, and one call does all.
_ANSWER = f"""
    IF last > known THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    RETURN QUERY SELECT its_bandit, last, NULL::smallint, NULL::text, 0.0::double precision,
        NULL::double precision, NULL::bytea, NULL::bigint;
    IF last - known BETWEEN 1 AND {MOST_MISSED} THEN
        RETURN QUERY SELECT * FROM giro_events
        WHERE bandit = its_bandit AND position > known AND position <= last ORDER BY position;
    END IF;
"""
NAME = "giro_append_2"
FUNCTION = f"""
CREATE OR REPLACE FUNCTION {NAME}(
    its_bandit bigint, awaited text[], reported text[], report_names bytea[], forms bigint,
    kinds smallint[], ids text[], times double precision[], amounts double precision[],
    datas bytea[], rewards bigint[], rewarded text[], places bigint[], known bigint
) RETURNS SETOF giro_events LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    last bigint;
    its_reward bigint;
BEGIN
    PERFORM pg_advisory_xact_lock({LOCKS} + its_bandit);
    FOR i IN 1 .. cardinality(kinds) LOOP
        IF kinds[i] = {DECISION} THEN
            PERFORM 1 FROM giro_events
            WHERE bandit = its_bandit AND kind = {DECISION} AND id = ids[i];
            IF FOUND THEN RETURN; END IF;
        END IF;
    END LOOP;
    FOR i IN 1 .. cardinality(awaited) LOOP
        SELECT reward INTO its_reward FROM giro_events
        WHERE bandit = its_bandit AND kind = {DECISION} AND id = awaited[i];
        IF NOT FOUND OR its_reward IS NOT NULL THEN RETURN; END IF;
    END LOOP;
    FOR i IN 1 .. cardinality(reported) LOOP
        PERFORM 1 FROM giro_events WHERE bandit = its_bandit AND kind = {REPORT}
        AND id = reported[i] AND data = report_names[i];
        IF FOUND THEN RETURN; END IF;
    END LOOP;
    IF forms IS NOT NULL THEN
        PERFORM 1 FROM giro_events WHERE bandit = its_bandit AND kind = {FORM}
        HAVING count(*) = forms;
        IF NOT FOUND THEN RETURN; END IF;
    END IF;
    last := coalesce((SELECT max(position) FROM giro_events WHERE bandit = its_bandit), 0);
    INSERT INTO giro_events (bandit, position, {EVENT}, reward)
    SELECT its_bandit, last + number, {EVENT}, last + reward
    FROM unnest(kinds, ids, times, amounts, datas, rewards)
    WITH ORDINALITY AS row ({EVENT}, reward, number);
    FOR i IN 1 .. cardinality(rewarded) LOOP
        UPDATE giro_events SET reward = last + places[i]
        WHERE bandit = its_bandit AND kind = {DECISION} AND id = rewarded[i];
    END LOOP;
{_ANSWER}END $$
"""
# The same for one decision or reward, of which most groups are where many processes append. It has
# a third of the work: no lists, and the index finds a decision that is there.
NAME_OF_ONE = "giro_append_one"
FUNCTION_OF_ONE = f"""
CREATE OR REPLACE FUNCTION {NAME_OF_ONE}(
    its_bandit bigint, its_kind smallint, its_id text, its_time double precision,
    its_value double precision, its_data bytea, known bigint
) RETURNS SETOF giro_events LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    last bigint;
    its_reward bigint;
BEGIN
    PERFORM pg_advisory_xact_lock({LOCKS} + its_bandit);
    IF its_kind = {REWARD} THEN
        SELECT reward INTO its_reward FROM giro_events
        WHERE bandit = its_bandit AND kind = {DECISION} AND id = its_id;
        IF NOT FOUND OR its_reward IS NOT NULL THEN RETURN; END IF;
    END IF;
    INSERT INTO giro_events (bandit, position, {EVENT})
    SELECT its_bandit,
        1 + coalesce((SELECT max(position) FROM giro_events WHERE bandit = its_bandit), 0),
        its_kind, its_id, its_time, its_value, its_data
    ON CONFLICT (bandit, id) WHERE kind = {DECISION} DO NOTHING RETURNING position - 1 INTO last;
    IF last IS NULL THEN RETURN; END IF;
    IF its_kind = {REWARD} THEN
        UPDATE giro_events SET reward = last + 1
        WHERE bandit = its_bandit AND kind = {DECISION} AND id = its_id;
    END IF;
{_ANSWER}
END $$
"""
_TYPES = (
    "bigint", "text[]", "text[]", "bytea[]", "bigint", "smallint[]", "text[]",
    "double precision[]", "double precision[]", "bytea[]", "bigint[]", "text[]", "bigint[]",
    "bigint",
)  # fmt: skip
_TYPES_OF_ONE = (
    "bigint", "smallint", "text", "double precision", "double precision", "bytea", "bigint",
)  # fmt: skip


def _call(name: str, types: Iterable[str]) -> str:
    return f"SELECT position, {EVENT} FROM {name}({', '.join(f'%s::{kind}' for kind in types)})"


CALL, CALL_OF_ONE = _call(NAME, _TYPES), _call(NAME_OF_ONE, _TYPES_OF_ONE)


def array_text(values: Iterable[object]) -> str:
    r"""Return values as the text of an array.

    Lists are slow: the driver looks at each value of each for its type.

    >>> print(array_text([1, None, 0.1, b"\x01", 'a "b"']))
    {1,NULL,0.1,"\\x01","a \"b\""}
    """
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case bytes():
            return f'"\\\\x{value.hex()}"'
        case _:
            return str(value)
