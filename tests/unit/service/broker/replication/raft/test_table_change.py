"""TableChange and LogTables."""

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.names import TABLES_TOPIC
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.service.broker.replication.raft.table_change import (
    GROUPS,
    OFFSETS,
    TOPICS,
    ChangeKind,
    LogTables,
    Rows,
    TableChange,
    decode_change,
    read_log_tables,
)
from tests.store_kit import StoreKit


def log_of(*changes: TableChange) -> StoreKit:
    """A store whose log has these records."""
    kit = StoreKit()
    for change in changes:
        draft = MessageDraft()
        draft.topic = TABLES_TOPIC.encode()
        draft.set_body(memoryview(change.encode()))
        kit.store.append(draft, 1_000)
    kit.store.dispatch()
    return kit


def offsets(kind: ChangeKind = ChangeKind.CHANGE, **rows: int | None) -> TableChange:
    found: Rows = {
        f"T@{group}": None if offset is None else {"0": offset} for group, offset in rows.items()
    }
    return TableChange(kind, {OFFSETS: found})


BEGIN = TableChange(ChangeKind.BEGIN, {OFFSETS: {}})
END = TableChange(ChangeKind.END, {})


def found_in(*changes: TableChange) -> LogTables:
    found = read_log_tables(log_of(*changes).store)
    assert found is not None
    return found


def test_a_change_is_the_same_after_its_bytes() -> None:
    change = TableChange(ChangeKind.PART, {TOPICS: {"T": {"perm": 6}, "U": None}, GROUPS: {}})
    assert decode_change(change.encode()) == change


@pytest.mark.parametrize("body", [b"[]", b'{"kind":"other"}', b'{"kind":"change","topics":[]}'])
def test_another_body_is_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decode_change(body)


def test_a_log_without_records_says_nothing() -> None:
    assert read_log_tables(log_of().store) is None


def test_of_several_records_with_a_row_the_last_counts() -> None:
    found = found_in(offsets(g=1, h=7), offsets(g=2), offsets(g=3))
    assert not found.whole
    assert found.onto(OFFSETS, {}) == {"T@g": {"0": 3}, "T@h": {"0": 7}}


def test_changes_alone_are_put_onto_what_there_is_and_take_rows_away() -> None:
    found = found_in(offsets(g=1, h=None))
    base = {"T@h": {"0": 5}, "T@i": {"0": 6}}
    assert found.onto(OFFSETS, base) == {"T@g": {"0": 1}, "T@i": {"0": 6}}


def test_a_whole_copy_replaces_everything_before_it_and_what_there_is() -> None:
    found = found_in(offsets(old=1), BEGIN, offsets(ChangeKind.PART, g=2), END, offsets(h=3))
    assert OFFSETS in found.whole
    assert found.onto(OFFSETS, {"T@base": {"0": 9}}) == {"T@g": {"0": 2}, "T@h": {"0": 3}}


def test_a_change_between_the_parts_of_a_copy_counts() -> None:
    found = found_in(
        BEGIN, offsets(ChangeKind.PART, g=2), offsets(g=4), offsets(ChangeKind.PART, h=1), END
    )
    assert found.onto(OFFSETS, {}) == {"T@g": {"0": 4}, "T@h": {"0": 1}}


def test_a_copy_without_its_end_is_so_many_changes() -> None:
    whole = (BEGIN, offsets(ChangeKind.PART, g=2, h=2), END)
    found = found_in(*whole, offsets(g=3), BEGIN, offsets(ChangeKind.PART, h=5))
    assert OFFSETS in found.whole
    assert found.onto(OFFSETS, {}) == {"T@g": {"0": 3}, "T@h": {"0": 5}}


def test_of_a_topic_that_was_deleted_the_messages_before_the_record_are_dead() -> None:
    kit = log_of(TableChange(ChangeKind.CHANGE, {TOPICS: {"T": None}}))
    found = read_log_tables(kit.store)
    assert found is not None
    assert found.deleted == {"T": kit.store.end_offset}


def test_what_lies_before_the_group_does_not_count() -> None:
    kit = log_of(BEGIN, offsets(g=1), END, offsets(h=2))
    queue = kit.store.queue(TABLES_TOPIC.encode(), 0)
    assert queue is not None
    places = [unit[0] for unit in map(queue.unit, range(4)) if unit is not None]
    found = read_log_tables(kit.store, places[3])
    assert found is not None
    assert (set(found.whole), found.onto(OFFSETS, {})) == (set(), {"T@h": {"0": 2}})
    assert read_log_tables(kit.store, kit.store.end_offset) is None
