"""Unit tests of offsets, as consumers ask for and commit them."""

import json

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from tests.captured import captured
from tests.consumer_kit import ConsumerKit
from tests.store_kit import draft

QUEUE = {"topic": "Orders", "queueId": "0"}
MINE = {**QUEUE, "consumerGroup": "g"}


def commit(kit: ConsumerKit, offset: int, **fields: str) -> RemotingCommand:
    return kit.ask(15, {**MINE, "commitOffset": str(offset), **fields})


def test_what_is_committed_is_answered() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    assert commit(kit, 3).code == 0
    answer = kit.ask(14, MINE)
    assert (answer.code, answer.ext_fields) == (0, {"offset": "3"})
    commit(kit, 1)
    assert kit.ask(14, MINE).ext_fields == {"offset": "1"}


def test_nothing_is_committed_beyond_the_end_of_the_queue() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    commit(kit, 99)
    assert kit.ask(14, MINE).ext_fields == {"offset": "5"}


def test_a_one_way_commit_counts_and_is_not_answered() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    kit.tell(15, {**MINE, "commitOffset": "2"})
    assert kit.offsets.find("g", "Orders", 0) == 2


def test_a_new_group_begins_at_the_start_of_a_young_queue() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    assert kit.ask(14, MINE).ext_fields == {"offset": "0"}
    asked = {**MINE, "setZeroIfNotFound": "false"}
    assert kit.ask(14, asked).code == 22
    assert kit.ask(14, {**MINE, "setZeroIfNotFound": "true"}).code == 0


def test_a_new_group_finds_nothing_in_an_empty_or_an_old_queue() -> None:
    kit = ConsumerKit(young_bytes=100)
    answer = kit.ask(14, MINE)
    assert (answer.code, answer.ext_fields) == (22, {})
    kit.store_messages(5)
    assert kit.ask(14, MINE).code == 22


def test_a_commit_makes_a_group_where_that_is_allowed() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    commit(kit, 2)
    assert kit.groups.find("g") is not None
    strict = ConsumerKit(BrokerConfig(creates_groups=False))
    strict.store_messages(5)
    assert commit(strict, 2).code == 26
    assert strict.offsets.topics_of("g") == []


def test_a_commit_for_a_topic_that_is_not_there_makes_nothing() -> None:
    kit = ConsumerKit()
    assert commit(kit, 2, topic="None").code == 17
    assert kit.groups.find("g") is None


@pytest.mark.parametrize("field", ["consumerGroup", "topic", "queueId", "commitOffset"])
def test_a_commit_that_lacks_a_field_is_refused_with_a_code_of_its_own(field: str) -> None:
    fields = {**MINE, "commitOffset": "1"}
    del fields[field]
    assert ConsumerKit().ask(15, fields).code == 29


def test_a_commit_is_for_a_queue_that_exists_or_is_configured() -> None:
    kit = ConsumerKit()
    assert commit(kit, 0, queueId="1").code == 0
    assert commit(kit, 0, queueId="2").code == 29
    assert commit(kit, 0, queueId="-1").code == 29
    kit.kit.append(draft(b"Orders", 7))
    kit.store.dispatch()
    assert commit(kit, 1, queueId="7").code == 0


def test_commits_are_ignored_while_a_reset_waits() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    commit(kit, 4)
    kit.offsets.reset("g", "Orders", 0, 1)
    assert commit(kit, 5).code == 0
    assert kit.ask(14, MINE).ext_fields == {"offset": "1"}


def test_the_ends_of_a_queue_are_told() -> None:
    kit = ConsumerKit()
    for code in (30, 31):
        answer = kit.ask(code, QUEUE)
        assert (answer.code, answer.ext_fields) == (0, {"offset": "0"})
    kit.store_messages(5)
    assert kit.ask(30, QUEUE).ext_fields == {"offset": "5"}
    assert kit.ask(31, QUEUE).ext_fields == {"offset": "0"}
    kit.kit.append(draft())  # appended, and not dispatched
    assert kit.ask(30, {**QUEUE, "committed": "true"}).ext_fields == {"offset": "5"}
    assert kit.ask(30, {**QUEUE, "committed": "false"}).ext_fields == {"offset": "6"}


def test_a_batch_queue_that_never_had_a_message_has_no_smallest_offset() -> None:
    kit = ConsumerKit()
    batches = {"queue.type": "BatchCQ"}
    kit.topics.put(
        [TopicConfig("Batches", 2, 2, attributes=batches)], kit.clock.now(), kit.told.append
    )
    kit.finish()
    assert kit.ask(31, {**QUEUE, "topic": "Batches"}).ext_fields == {"offset": "-1"}
    kit.kit.append(draft(b"Batches", 0))
    kit.store.dispatch()
    assert kit.ask(31, {**QUEUE, "topic": "Batches"}).ext_fields == {"offset": "0"}


def test_the_earliest_time_of_a_queue_is_told() -> None:
    kit = ConsumerKit()
    assert kit.ask(32, QUEUE).ext_fields == {"timestamp": "-1"}
    kit.store_messages(3)
    assert kit.ask(32, QUEUE).ext_fields == {"timestamp": str(kit.clock.now().wall_ms - 2)}


def test_a_time_is_found_from_either_side() -> None:
    kit = ConsumerKit()
    kit.store_messages(3)
    kit.clock.advance(10)
    kit.store_messages(1)
    gap = str(kit.clock.now().wall_ms - 5)
    future = str(kit.clock.now().wall_ms + 5)
    for boundary, in_gap, after in (
        ({}, "3", "4"),
        ({"boundaryType": "lower"}, "3", "4"),
        ({"boundaryType": "upper"}, "2", "3"),
        ({"boundaryType": "UPPER"}, "2", "3"),
        ({"boundaryType": "sideways"}, "3", "4"),
    ):
        fields = {**QUEUE, **boundary}
        assert kit.ask(29, {**fields, "timestamp": gap}).ext_fields == {"offset": in_gap}
        assert kit.ask(29, {**fields, "timestamp": future}).ext_fields == {"offset": after}
    empty = {"topic": "Orders", "queueId": "1", "timestamp": future}
    assert kit.ask(29, empty).ext_fields == {"offset": "0"}


def test_all_offsets_are_told_in_json_that_any_parser_reads() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    commit(kit, 3)
    told = json.loads(bytes(kit.ask(43).body))
    assert told["offsetTable"] == {"Orders@g": {"0": 3}}
    assert set(told) == {"dataVersion", "groupTopicMap", "offsetTable", "pullOffsetTable"}


@pytest.mark.parametrize(
    ("name", "kind", "field", "wanted"),
    [
        ("QUERY_CONSUMER_OFFSET", "request", "offset", "0"),
        ("GET_MAX_OFFSET", "request", "offset", "3"),
        ("GET_MIN_OFFSET", "request", "offset", "0"),
        ("SEARCH_OFFSET_BY_TIMESTAMP", "request", "offset", "3"),
    ],
)
def test_captured_questions_are_answered(name: str, kind: str, field: str, wanted: str) -> None:
    for command in captured(name, kind):
        kit = ConsumerKit()
        topic, queue_id = command.ext_fields["topic"], int(command.ext_fields["queueId"])
        if topic.startswith("%RETRY%"):
            continue
        kit.make_topic(TopicConfig(topic, 4, 4))
        kit.store_messages(3, topic, queue_id)  # long before the capture, by this clock
        answer = kit.ask(command.code, command.ext_fields)
        expected = "0" if command.ext_fields.get("timestamp") == "0" else wanted
        assert (answer.code, answer.ext_fields) == (0, {field: expected})


def test_captured_commits_count() -> None:
    for kind in ("request", "oneway"):
        for command in captured("UPDATE_CONSUMER_OFFSET", kind):
            kit = ConsumerKit()
            fields = command.ext_fields
            kit.make_topic(TopicConfig(fields["topic"], 4, 4))
            kit.store_messages(10, fields["topic"], int(fields["queueId"]))
            kit.send(15, fields, flag=command.flag)
            found = kit.offsets.find(
                fields["consumerGroup"], fields["topic"], int(fields["queueId"])
            )
            assert found == int(fields["commitOffset"])


def test_a_commit_that_there_is_no_room_for_is_refused() -> None:
    kit = ConsumerKit(offsets_max=1)
    kit.store_messages(5)
    assert commit(kit, 3).code == 0
    refused = commit(kit, 3, consumerGroup="h")
    assert (refused.code, "delete groups" in refused.remark) == (1, True)
    assert commit(kit, 4).code == 0
