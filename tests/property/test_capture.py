"""For all rows, keys and orders: names that differ, an order that holds, a replica that agrees."""

import sqlite3
import struct
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aerobee.pipeline.capture.column_values import shortest_single, time_text
from aerobee.pipeline.capture.database.snapshot import after_condition, key_value, stored_key_value
from aerobee.pipeline.capture.envelope import Change, Envelope, Op, Origin, changes_of, encode
from aerobee.pipeline.capture.position import CaptureState, Phase, Position, sequence
from aerobee.pipeline.capture.replica import Replica
from aerobee.pipeline.capture.row_key import key_text
from aerobee.pipeline.capture.table_schema import Column, Kind, TableName, TableSchema

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_positions = st.builds(
    Position,
    st.integers(1, 2**31).map(lambda number: f"log.{number:06d}"),
    st.integers(4, 2**32 - 1),
)


@given(st.lists(st.tuples(_texts, st.integers(), _texts), min_size=2, max_size=2, unique=True))
def test_two_keys_have_two_names_without_white_space(keys: list[tuple[Any, ...]]) -> None:
    names = [key_text(dict(zip("abc", key, strict=True)), "abc") for key in keys]
    assert names[0] != names[1]
    assert all(len(name.split()) <= 1 for name in names)


@given(st.lists(st.tuples(st.integers(1, 9999), _positions, st.integers(0, 10**8 - 1)), min_size=2))
def test_sequences_have_the_order_of_what_they_say(places: list[tuple[int, Position, int]]) -> None:
    by_meaning = sorted(places, key=lambda one: (one[0], one[1].file_number, one[1].offset, one[2]))
    assert sorted(sequence(*one) for one in places) == [sequence(*one) for one in by_meaning]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_float_is_the_same_float(value: float) -> None:
    assert struct.pack("<f", shortest_single(value)) == struct.pack("<f", value)


@given(st.timedeltas(timedelta(hours=-839), timedelta(hours=839)))
def test_a_time_can_be_read_back(value: timedelta) -> None:
    text = time_text(value)
    hours, minutes, seconds = text.lstrip("-").split(":")
    read = timedelta(hours=int(hours), minutes=int(minutes)) + timedelta(
        microseconds=round(float(seconds) * 1e6)
    )
    assert (-read if text.startswith("-") else read) == value


@given(
    st.builds(
        CaptureState,
        _texts,
        _positions,
        st.integers(1, 9999),
        st.sampled_from(Phase),
        st.frozensets(_texts),
        st.dictionaries(_texts, st.lists(st.integers() | _texts)),
        st.integers(0),
    )
)
def test_states_can_be_read_back(state: CaptureState) -> None:
    assert CaptureState.from_json(state.to_json()) == state


@given(
    st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))),
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
)
def test_rows_behind_a_key_are_those_that_are_greater(
    rows: set[tuple[int, ...]], key: tuple[int, ...]
) -> None:
    condition, values = after_condition("abc", [key_value(stored_key_value(one)) for one in key])
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (a, b, c)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", list(rows))
        found = database.execute(
            f"SELECT * FROM t{condition.replace('%s', '?')} ORDER BY a, b, c", values
        ).fetchall()
    database.close()
    assert found == sorted(row for row in rows if row > key)


_TABLE = TableSchema(
    TableName("s", "t"), (Column("id", Kind.INTEGER), Column("v", Kind.INTEGER)), ("id",)
)
# What is done to a table: a row set, a row deleted, a key changed, all rows gone.
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        st.tuples(st.just("move"), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.just("empty")),
    ),
    max_size=25,
)


def _history(steps: list[tuple[Any, ...]]) -> tuple[dict[int, int], list[bytes]]:
    """The table after these steps, and what a capture says of them."""
    table: dict[int, int] = {}
    bodies: list[bytes] = []

    def say(number: int, before: dict[str, int] | None, after: dict[str, int] | None) -> None:
        origin = Origin(Position("log.000001", 100 + number), 0, transaction=str(number))
        found = changes_of(_TABLE, before, after)
        for row, (op, key, key_row, old, new) in enumerate(found):
            change = Change(op, _TABLE.name, "v", key, key_row, old, new, row)
            bodies.append(encode(change, origin, "n", 1, 0))

    for number, step in enumerate(steps):
        match step:
            case ("put", key, value):
                before = {"id": key, "v": table[key]} if key in table else None
                table[key] = value
                say(number, before, {"id": key, "v": value})
            case ("delete", key) if key in table:
                say(number, {"id": key, "v": table.pop(key)}, None)
            case ("move", key, to) if key in table and to not in table:
                table[to] = value = table.pop(key)
                say(number, {"id": key, "v": value}, {"id": to, "v": value})
            case ("empty",):
                table.clear()
                origin = Origin(Position("log.000001", 100 + number), 0)
                change = Change(Op.TRUNCATE, _TABLE.name, "", "", None, None, None)
                bodies.append(encode(change, origin, "n", 1, 0))
    return table, bodies


@given(_steps, st.randoms(use_true_random=False), st.integers(0, 25))
def test_a_replica_is_the_table_in_whatever_order_and_however_often_changes_come(
    steps: list[tuple[Any, ...]], shuffle: Any, again_from: int
) -> None:
    table, bodies = _history(steps)
    bodies += bodies[again_from:]
    shuffle.shuffle(bodies)
    replica = Replica()
    replica.apply_all(bodies)
    found = {row["id"]: row["v"] for row in replica.rows(_TABLE.name)}
    assert found == table
    assert all(Envelope.decode(body).table == _TABLE.name for body in bodies)
