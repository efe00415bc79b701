"""Unit tests of committed offsets: never beyond the queue, sent back only on purpose."""

from typing import Any

import pytest

from aerobee.errors import ProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_pretty
from aerobee.service.broker.state.consumer_offsets import (
    UNKNOWN,
    ConsumerOffsets,
    offsets_from,
)
from tests.fixture_store import STORES, expected, files

EVERYTHING = 1 << 60


def read(text: bytes) -> Any:
    return parse(text)


def test_what_was_committed_is_found() -> None:
    offsets = ConsumerOffsets()
    assert offsets.find("g", "t", 0) == UNKNOWN
    offsets.commit("g", "t", 0, 7, max_offset=10)
    assert offsets.find("g", "t", 0) == 7
    assert offsets.find("g", "t", 1) == UNKNOWN
    assert offsets.find("h", "t", 0) == UNKNOWN
    assert offsets.is_dirty


def test_an_offset_is_never_kept_beyond_the_end_of_its_queue_or_below_zero() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 99, max_offset=10)
    assert offsets.find("g", "t", 0) == 10
    offsets.commit("g", "t", 0, -5, max_offset=10)
    assert offsets.find("g", "t", 0) == 0


def test_a_group_may_go_back() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 9, max_offset=10)
    offsets.commit("g", "t", 0, 3, max_offset=10)
    assert offsets.find("g", "t", 0) == 3


def test_commits_are_ignored_until_a_reset_was_taken() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 9, max_offset=10)
    offsets.reset("g", "t", 0, 2)
    offsets.commit("g", "t", 0, 10, max_offset=10)
    offsets.commit("g", "t", 1, 10, max_offset=10)
    assert offsets.find("g", "t", 0) == 2
    assert offsets.find("g", "t", 1) == 10
    assert offsets.take_reset("g", "t", 0) == 2
    assert offsets.take_reset("g", "t", 0) is None
    offsets.commit("g", "t", 0, 3, max_offset=10)
    assert offsets.find("g", "t", 0) == 3


def test_topics_and_groups_are_listed_and_removed() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 1, max_offset=10)
    offsets.commit("g", "u", 0, 2, max_offset=10)
    offsets.commit("h", "t", 1, 3, max_offset=10)
    assert offsets.topics_of("g") == ["t", "u"]
    assert offsets.groups_of("t") == ["g", "h"]
    assert list(offsets) == [("t", "g", {0: 1}), ("t", "h", {1: 3}), ("u", "g", {0: 2})]
    offsets.remove_group("g")
    assert list(offsets) == [("t", "h", {1: 3})]
    offsets.remove_topic("t")
    assert list(offsets) == []


def test_a_reset_goes_with_its_group_and_with_its_topic() -> None:
    offsets = ConsumerOffsets()
    for group, topic in (("g", "t"), ("g", "u"), ("h", "t")):
        offsets.reset(group, topic, 0, 2)
        offsets.note_pulled(group, topic, 0, 5)
    offsets.remove_group("g")
    offsets.remove_topic("u")
    assert offsets.take_reset("g", "t", 0) is None
    assert offsets.find("g", "t", 0) == UNKNOWN
    assert offsets.find_pulled("g", "t", 0) == UNKNOWN
    assert offsets.find_pulled("h", "t", 0) == 5
    offsets.remove_topic("t")
    assert offsets.take_reset("h", "t", 0) is None


def test_where_pulls_are_is_never_behind_what_is_committed() -> None:
    offsets = ConsumerOffsets()
    assert offsets.find_pulled("g", "t", 0) == UNKNOWN
    offsets.note_pulled("g", "t", 0, 5)
    assert offsets.find_pulled("g", "t", 0) == 5
    offsets.commit("g", "t", 0, 8, max_offset=10)
    assert offsets.find_pulled("g", "t", 0) == 8
    offsets.commit("g", "t", 0, 3, max_offset=10)
    assert offsets.find_pulled("g", "t", 0) == 5


def test_a_clone_begins_where_the_other_is_and_then_goes_its_own_way() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 3, max_offset=10)
    offsets.commit("g", "u", 0, 4, max_offset=10)
    offsets.commit("h", "t", 1, 5, max_offset=10)
    offsets.clone("g", "h", "t")
    assert offsets.of("h", "t") == {0: 3, 1: 5}
    assert offsets.of("h", "u") == {}
    offsets.commit("h", "t", 0, 9, max_offset=10)
    assert offsets.find("g", "t", 0) == 3


# The file.


def never_deleted(topic: str) -> int:
    return 0


def test_saying_the_same_again_changes_nothing() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 3, max_offset=10)
    offsets.take_saved(1, 0)
    assert not offsets.is_dirty
    offsets.commit("g", "t", 0, 3, max_offset=10)
    assert not offsets.is_dirty
    offsets.commit("g", "t", 0, 4, max_offset=10)
    assert offsets.is_dirty


def test_a_picture_stays_as_it_was_taken() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 0, 3, max_offset=10)
    before = offsets.picture()
    offsets.commit("g", "t", 0, 4, max_offset=10)
    offsets.commit("g", "t", 1, 5, max_offset=10)
    offsets.commit("h", "t", 0, 6, max_offset=10)
    between = offsets.picture()
    offsets.remove_group("g")
    offsets.commit("h", "t", 0, 7, max_offset=10)
    assert before.json()["offsetTable"] == {"t@g": {0: 3}}
    assert between.json()["offsetTable"] == {"t@g": {0: 4, 1: 5}, "t@h": {0: 6}}
    assert between.json()["groupTopicMap"] == {"g": ["t"], "h": ["t"]}
    assert offsets.picture().json()["offsetTable"] == {"t@h": {0: 7}}


@pytest.mark.parametrize("topics", [[], ["t"], ["t", "u", 'quo"ted', "back\\slash", "Größe", "\n"]])
def test_a_picture_is_written_as_any_other_value_would_be(topics: list[str]) -> None:
    offsets = ConsumerOffsets()
    for number, topic in enumerate(topics):
        offsets.commit("g", topic, 0, number, max_offset=100)
        offsets.commit("g", topic, 7, 50, max_offset=100)
        offsets.note_pulled("h", topic, 0, number)
    picture = offsets.picture()
    assert picture.text() == write_pretty(picture.json())


def test_every_save_has_a_version_of_its_own() -> None:
    offsets = ConsumerOffsets()
    offsets.take_saved(1000, 0)
    offsets.take_saved(2000, 0)
    assert offsets.version == DataVersion(0, 2, 2000)
    said = offsets.picture().json()["dataVersion"]
    assert said == {"counter": 2, "stateVersion": 0, "timestamp": 2000}


@pytest.mark.parametrize("name", STORES)
def test_what_apache_saved_is_loaded_and_written_again_as_it_was(name: str) -> None:
    (content,) = [one.content() for one in files(name) if one.path == "config/consumerOffset.json"]
    said = read(content)
    offsets = ConsumerOffsets()
    offsets.load(said, lambda topic, queue_id: EVERYTHING, never_deleted)
    assert not offsets.is_dirty
    for group, topics in expected(name)["groups"].items():
        for topic, queues in topics.items():
            for queue_id, queue in queues.items():
                assert offsets.find(group, topic, int(queue_id)) == queue["consumerOffset"]
    again = read(offsets.picture().text())
    assert list(again) == list(said)
    for table in ("dataVersion", "offsetTable", "pullOffsetTable"):
        assert write_pretty(again[table]) == write_pretty(said[table])
    # Apache's map holds only what was committed since its start; ours holds all.
    for group, topics in said["groupTopicMap"].items():
        assert set(topics) <= set(again["groupTopicMap"][group])


def test_an_offset_beyond_its_queue_is_cut_when_it_is_loaded() -> None:
    offsets = ConsumerOffsets()
    offsets.load(
        read(b'{"offsetTable":{"t@g":{0:12,"1":8,2:-3}}}'),
        lambda topic, queue_id: 10,
        never_deleted,
    )
    assert offsets.of("g", "t") == {0: 10, 1: 8, 2: 0}
    assert offsets.is_dirty


def test_names_that_nobody_can_ask_for_are_left_out() -> None:
    offsets = ConsumerOffsets()
    table = {name: {0: 1} for name in ("t", "@g", "t@", "t@g@h", "t@g")}
    offsets.load(
        read(write_pretty({"offsetTable": table})), lambda topic, queue_id: 10, never_deleted
    )
    assert list(offsets) == [("t", "g", {0: 1})]


@pytest.mark.parametrize(
    "text",
    [
        b'{"offsetTable":[]}',
        b'{"offsetTable":{"t@g":7}}',
        b'{"offsetTable":{"t@g":{"first":7}}}',
        b'{"offsetTable":{"t@g":{0:"far"}}}',
        b'{"offsetTable":{"t@g":{0:true}}}',
        b'{"dataVersion":7}',
    ],
)
def test_nonsense_is_not_taken_for_offsets(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        ConsumerOffsets().load(read(text), lambda topic, queue_id: 10, never_deleted)


def test_offsets_without_room_stay_unknown_and_cannot_be_set() -> None:
    offsets = ConsumerOffsets(count_max=1)
    offsets.commit("g", "t", 0, 7, max_offset=10)
    offsets.commit("h", "t", 0, 7, max_offset=10)
    assert offsets.find("h", "t", 0) == UNKNOWN
    with pytest.raises(ProtocolError, match="no room"):
        offsets.reset("h", "t", 0, 5)
    assert offsets.take_reset("h", "t", 0) is None
    offsets.reset("g", "t", 0, 5)
    assert offsets.take_reset("g", "t", 0) == 5


def test_everything_that_a_file_says_is_taken_however_much_it_is() -> None:
    offsets = ConsumerOffsets(count_max=1)
    offsets.load(
        read(b'{"offsetTable":{"t@g":{0:1,1:2,2:3}}}'), lambda topic, queue: 9, never_deleted
    )
    assert offsets.of("g", "t") == {0: 1, 1: 2, 2: 3}


def test_the_topics_of_all_groups_are_those_of_each() -> None:
    offsets = ConsumerOffsets()
    for group, topic in (("g", "t"), ("h", "t"), ("g", "s"), ("g", "u")):
        offsets.commit(group, topic, 0, 1, max_offset=10)
    assert offsets.topics_by_group() == {"g": ["s", "t", "u"], "h": ["t"]}
    assert all(offsets.topics_of(g) == found for g, found in offsets.topics_by_group().items())


def test_every_topic_and_group_with_an_offset_is_a_pair() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "Orders", 0, 1, 9)
    offsets.commit("g", "Orders", 1, 1, 9)
    offsets.commit("h", "Orders", 0, 1, 9)
    assert sorted(offsets.pairs()) == [("Orders", "g"), ("Orders", "h")]


def test_where_pops_are_counted_to_is_saved_once_there_are_any() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "T", 0, 5, 10)
    assert b"popLogOffset" not in offsets.picture().text()
    offsets.popped_to = 700
    picture = offsets.picture()
    assert picture.text() == write_pretty(picture.json())
    loaded = ConsumerOffsets()
    saved = parse(picture.text())
    assert isinstance(saved, dict)
    loaded.load(saved, lambda topic, queue_id: 10, never_deleted)
    assert (loaded.popped_to, loaded.find("g", "T", 0)) == (700, 5)


def test_offsets_saved_before_a_topic_was_deleted_are_not_loaded() -> None:
    offsets = ConsumerOffsets()
    for topic in ("Gone", "Older", "Kept"):
        offsets.commit("g", topic, 0, 5, 10)
        offsets.note_pulled("g", topic, 0, 7)
    picture = offsets.take_saved(1000, 700)
    assert picture.text() == write_pretty(picture.json())
    deleted_at = {"Gone": 701, "Older": 699}
    loaded = ConsumerOffsets()
    saved = parse(picture.text())
    assert isinstance(saved, dict)
    loaded.load(saved, lambda topic, queue_id: 10, lambda topic: deleted_at.get(topic, 0))
    assert loaded.topics_of("g") == ["Kept", "Older"]
    assert loaded.find_pulled("g", "Gone", 0) == UNKNOWN
    assert loaded.is_dirty
    at_once = ConsumerOffsets()
    at_once.load(
        saved, lambda topic, queue_id: 10, {"Gone": 700, "Older": 0, "Kept": 0}.__getitem__
    )
    assert at_once.topics_of("g") == ["Kept", "Older"], "deleted before anything more was stored"


def test_a_file_that_does_not_say_where_the_log_ended_is_believed() -> None:
    offsets = ConsumerOffsets()
    offsets.load(read(b'{"offsetTable":{"t@g":{0:5}}}'), lambda topic, queue_id: 10, lambda t: 99)
    assert offsets.of("g", "t") == {0: 5}
    assert not offsets.is_dirty
    empty_log = read(b'{"logOffset":0,"offsetTable":{"t@g":{0:0}}}')
    offsets.load(empty_log, lambda topic, queue_id: 10, never_deleted)
    assert offsets.of("g", "t") == {0: 0}


# Copying from a master.


def test_every_changed_commit_is_told_and_no_other() -> None:
    offsets = ConsumerOffsets()
    told: list[tuple[str, str, int, int]] = []
    offsets.on_commit = lambda *said: told.append(said)
    offsets.commit("g", "t", 0, 99, max_offset=10)
    offsets.commit("g", "t", 0, 10, max_offset=10)
    offsets.commit("g", "t", 1, 3, max_offset=10)
    assert told == [("t", "g", 0, 10), ("t", "g", 1, 3)]
    offsets.take_over({("t", "g"): {0: 5}}, [], 7)
    assert len(told) == 2


def test_a_masters_offsets_replace_those_of_their_pairs() -> None:
    offsets = ConsumerOffsets()
    for topic in ("t", "u", "v"):
        offsets.commit("g", topic, 0, 5, max_offset=10)
    offsets.note_pulled("g", "u", 0, 6)
    offsets.is_dirty = False
    offsets.take_over({("t", "g"): {1: 2}}, [("u", "g")], 77)
    assert list(offsets) == [("t", "g", {1: 2}), ("v", "g", {0: 5})]
    assert offsets.find_pulled("g", "u", 0) == UNKNOWN
    assert (offsets.popped_to, offsets.is_dirty) == (77, True)
    offsets.is_dirty = False
    offsets.take_over({}, [], 77)
    assert not offsets.is_dirty


def test_what_a_master_answers_is_read() -> None:
    offsets = ConsumerOffsets()
    offsets.commit("g", "t", 3, 5, max_offset=10)
    offsets.note_pulled("g", "t", 3, 6)
    offsets.popped_to = 88
    picture = offsets.picture()
    found = offsets_from(Members(read(write_pretty(picture.json())), "the answer"))
    assert found == picture._replace(pulled={})
    apaches = b'{"dataVersion":{"counter":2},"offsetTable":{"t@g":{"0":7},"no key":{0:1}}}'
    found = offsets_from(Members(read(apaches), "the answer"))
    assert (found.committed, found.popped_to) == ({("t", "g"): {0: 7}}, -1)


@pytest.mark.parametrize(
    "text", [b'{"offsetTable":{"t@g":{"0":"x"}}}', b'{"offsetTable":{"t@g":1}}']
)
def test_what_are_no_offsets_of_a_master_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        offsets_from(Members(read(text), "the answer"))
