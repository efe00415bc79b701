"""Unit tests of tables of offsets: pictures stay as they were taken."""

from aerobee.service.broker.state.offset_table import (
    UNKNOWN,
    OffsetTable,
    key_text,
    parse_key,
)


def test_what_was_put_is_found() -> None:
    table = OffsetTable()
    assert table.find("t", "g", 0) == UNKNOWN
    assert table.put("t", "g", 0, 7)
    assert not table.put("t", "g", 0, 7)
    assert table.find("t", "g", 0) == 7
    assert table.find("t", "g", 1) == UNKNOWN
    assert table.find("g", "t", 0) == UNKNOWN
    assert table.of("t", "g") == {0: 7}
    assert table.of("t", "h") == {}
    assert list(table) == [("t", "g")]


def test_a_picture_is_not_changed_by_what_is_put_later() -> None:
    table = OffsetTable()
    table.put("t", "g", 0, 1)
    first = table.picture()
    table.put("t", "g", 0, 2)
    table.put("t", "g", 1, 2)
    table.put("t", "h", 0, 2)
    second = table.picture()
    third = table.picture()
    table.put("t", "g", 0, 3)
    table.remove(lambda topic, group: group == "h")
    assert first == {("t", "g"): {0: 1}}
    assert second == third == {("t", "g"): {0: 2, 1: 2}, ("t", "h"): {0: 2}}
    assert table.picture() == {("t", "g"): {0: 3, 1: 2}}


def test_offsets_are_copied_once_for_a_picture_and_not_at_every_change() -> None:
    table = OffsetTable()
    table.put("t", "g", 0, 1)
    held = table.picture()["t", "g"]
    table.put("t", "g", 0, 2)
    own = table.picture()["t", "g"]
    assert own is not held
    assert table.picture()["t", "g"] is own


def test_what_comes_back_after_it_was_removed_is_in_no_picture() -> None:
    table = OffsetTable()
    table.put("t", "g", 0, 1)
    assert table.remove(lambda topic, group: topic == "t")
    assert not table.remove(lambda topic, group: topic == "t")
    table.put("t", "g", 0, 5)
    picture = table.picture()
    table.put("t", "g", 0, 6)
    assert picture == {("t", "g"): {0: 5}}


def test_keys_are_topic_and_group() -> None:
    assert key_text(("%RETRY%g", "g")) == "%RETRY%g@g"
    assert parse_key("%RETRY%g@g") == ("%RETRY%g", "g")
    for text in ("", "t", "t@", "@g", "t@g@h"):
        assert parse_key(text) is None


def test_no_more_is_kept_than_there_is_room_for() -> None:
    table = OffsetTable(count_max=2)
    assert table.put("t", "g", 0, 1)
    assert table.put("t", "g", 1, 1)
    assert not table.put("t", "g", 2, 1)
    assert not table.put("t", "h", 0, 1)
    assert table.picture() == {("t", "g"): {0: 1, 1: 1}}
    assert table.put("t", "g", 0, 2)  # what is there may change
    assert table.restore("t", "h", 0, 1)  # what was there at a start is there again
    assert not table.put("t", "h", 1, 1)
    table.remove(lambda topic, group: group == "g")
    assert table.put("t", "h", 1, 1)
    assert not table.put("t", "h", 2, 1)


def test_all_offsets_of_a_pair_are_replaced_and_counted() -> None:
    table = OffsetTable(count_max=3)
    table.put("t", "g", 0, 1)
    table.put("t", "g", 5, 1)
    before = table.picture()
    table.replace("t", "g", {1: 7})
    assert table.of("t", "g") == {1: 7}
    assert before == {("t", "g"): {0: 1, 5: 1}}
    assert table.put("t", "h", 0, 1)
    assert table.put("t", "h", 1, 1)
    assert not table.put("t", "h", 2, 1), "there are three"
    table.replace("t", "g", {1: 7, 2: 8})
    assert table.of("t", "g") == {1: 7, 2: 8}
