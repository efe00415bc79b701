import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from aerobee.errors import DiskFailed
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.admin.topic.topic_handlers import TopicHandlers
from aerobee.service.broker.request_table import Lane, request_table
from aerobee.service.request import Request, answer_with
from aerobee.storage.metadata.saved_value import Done
from tests.broker_kit import create_fields
from tests.tables_kit import IDENTITY, AdminKit, TablesKit, at_once

ORDERS = TopicConfig("Orders", 4, 4)


def fields(topic: str = "Orders", **others: str) -> dict[str, str]:
    """As mqadmin 5.5.0 says it."""
    return {
        "readQueueNums": "4",
        "perm": "6",
        "writeQueueNums": "4",
        "topicFilterType": "SINGLE_TAG",
        "topic": topic,
        "attributes": "",
        "force": "false",
        "defaultTopic": "TBW102",
        "order": "false",
        "topicSysFlag": "0",
        **others,
    }


def listed(*topics: dict[str, object]) -> bytes:
    return json.dumps({"topicConfigList": topics}).encode()


# Making and changing.


def test_a_topic_is_made_on_the_disk_before_that_is_answered() -> None:
    kit = AdminKit()
    outbox = kit.send(17, fields())
    kit.worker.run_all()
    assert outbox == []
    kit.worker.collect()
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert (reply.command.code, reply.command.opaque) == (0, 7)
    assert TablesKit(kit.disk.power_cut()).topics.find("Orders") == ORDERS
    assert kit.topics.take_changed() == ["Orders"]


def test_everything_that_a_topic_says_counts() -> None:
    kit = AdminKit()
    said = fields(
        readQueueNums="3",
        writeQueueNums="2",
        perm="4",
        topicFilterType="MULTI_TAG",
        topicSysFlag="1",
        order="true",
        attributes="+message.type=FIFO",
    )
    assert kit.ask(17, said).code == 0
    assert kit.topics.find("Orders") == TopicConfig(
        "Orders", 3, 2, 4, 1, True, "MULTI_TAG", {"message.type": "FIFO"}
    )


def test_the_same_topic_again_changes_nothing() -> None:
    kit = AdminKit()
    said = fields(attributes="+message.type=FIFO")
    assert kit.ask(17, said).code == 0
    version = kit.topics.version
    assert kit.ask(17, said).code == 0
    assert kit.topics.version == version


def test_attributes_are_changes_of_what_was_asked_for_before() -> None:
    kit = AdminKit()
    kit.send(17, fields("First"))
    kit.send(17, fields(attributes="+queue.type=BatchCQ,+message.type=FIFO"))
    kit.send(17, fields(attributes="+message.type=DELAY"))
    kit.send(17, fields(attributes="+reserve.time=5", perm="4"))
    kit.finish()
    assert kit.topics.find("Orders") == replace(
        ORDERS,
        permission=4,
        attributes={"queue.type": "BatchCQ", "message.type": "DELAY", "reserve.time": "5"},
    )


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ("-message.type", "only add attribute is supported while creating topic"),
        ("+colour=red", "unsupported key: colour"),
        ("message.type", "neither"),
    ],
)
def test_attributes_that_cannot_be_are_refused_and_say_why(attributes: str, said: str) -> None:
    kit = AdminKit()
    answer = kit.ask(17, fields(attributes=attributes))
    assert answer.code == 1
    assert said in answer.remark
    assert kit.topics.find("Orders") is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"topic": ""}, "blank"),
        ({"topic": "a/b"}, "'/'"),
        ({"topic": "T" * 128}, "128 characters"),
        ({"topic": "%RETRY%g+t"}, "'+'"),
        ({"topic": "TBW102"}, "The topic[TBW102] is conflict with system topic."),
        ({"topic": "rmq_sys_new"}, "conflict with system topic"),
        ({"topic": "DefaultCluster"}, "conflict with system topic"),
        ({"topic": "broker-a"}, "conflict with system topic"),
        ({"readQueueNums": "-1"}, "readQueueNums is -1"),
        ({"writeQueueNums": "4097"}, "writeQueueNums is 4097, not from 0 to 4096"),
        ({"perm": "8"}, "perm is 8"),
        ({"perm": "-1"}, "perm is -1"),
        ({"topicFilterType": "EVERY_TAG"}, "EVERY_TAG"),
        ({"attributes": "+message.type=MIXED"}, "MIXED message type is not supported."),
    ],
)
def test_a_topic_that_cannot_be_is_refused_as_invalid(changed: dict[str, str], said: str) -> None:
    kit = AdminKit()
    before = kit.topics.all()
    answer = kit.ask(17, {**fields(), **changed})
    assert answer.code == 29
    assert said in answer.remark
    assert kit.topics.all() == before


def test_the_store_is_told_how_a_topic_is_cleaned_up_once_that_is_on_the_disk() -> None:
    kit = AdminKit()
    assert kit.ask(17, {**fields(), "topic": "Plain"}).code == 0
    kit.disk.faults.fail_call(1)
    wanted = {**fields(), "attributes": "+cleanup.policy=COMPACTION"}
    assert kit.ask(17, wanted).code == 1
    assert [(one.name, one.is_compacted) for one in kit.cleaned] == [("Plain", False)]
    assert kit.ask(17, wanted).code == 0
    assert [(one.name, one.is_compacted) for one in kit.cleaned[1:]] == [("Orders", True)]


def test_a_topic_without_queues_and_rights_can_be() -> None:
    kit = AdminKit()
    said = fields(readQueueNums="0", writeQueueNums="4096", perm="0")
    assert kit.ask(17, said).code == 0
    assert kit.topics.find("Orders") == TopicConfig("Orders", 0, 4096, 0)


def test_a_topic_that_could_not_be_saved_is_answered_with_why() -> None:
    kit = AdminKit()
    kit.ask(17, fields("First"))
    kit.disk.faults.fail_call(1)
    answer = kit.ask(17, fields())
    assert answer.code == 1
    assert answer.remark.startswith("it was not saved")


def test_many_topics_are_made_at_once() -> None:
    kit = AdminKit()
    body = listed(
        {"topicName": "A", "readQueueNums": 1, "writeQueueNums": 1},
        {"topicName": "B", "attributes": {"+message.type": "FIFO"}},
    )
    assert kit.ask(18, body=body).code == 0
    assert kit.topics.find("A") == TopicConfig("A", 1, 1)
    assert kit.topics.find("B") == TopicConfig("B", attributes={"message.type": "FIFO"})


@pytest.mark.parametrize(
    ("second", "code"),
    [
        ({"topicName": "TBW102"}, 29),
        ({"topicName": ""}, 29),
        ({"topicName": "B", "perm": 9}, 29),
        ({"topicName": "B", "attributes": {"message.type": "FIFO"}}, 1),
        ({"topicName": 5}, 1),
    ],
)
def test_of_many_topics_all_are_made_or_none(second: dict[str, object], code: int) -> None:
    kit = AdminKit()
    assert kit.ask(18, body=listed({"topicName": "A"}, second)).code == code
    assert kit.topics.find("A") is None


# Deleting.


def test_a_topic_goes_with_its_queues_and_its_offsets() -> None:
    kit = AdminKit()
    kit.ask(17, fields())
    kit.offsets.commit("g", "Orders", 0, 5, 10)
    kit.offsets.commit("g", "Bills", 0, 5, 10)
    outbox = kit.send(215, {"topic": "Orders"})
    assert (outbox, kit.deleted, kit.offsets.groups_of("Orders")) == ([], [], ["g"])
    kit.finish()
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 0
    assert kit.deleted == ["Orders"]
    assert (kit.offsets.groups_of("Orders"), kit.offsets.groups_of("Bills")) == ([], ["g"])
    assert b"Orders" not in kit.topics.entries
    assert TablesKit(kit.disk.power_cut()).topics.find("Orders") is None


def test_the_retry_topics_of_popping_a_topic_go_with_it() -> None:
    kit = AdminKit()
    names = ("%RETRY%g_Orders", "%RETRY%g+Orders", "%RETRY%g", "%RETRY%h_Orders")
    kit.topics.put(
        [ORDERS, *(TopicConfig(name) for name in names)], kit.clock.now(), kit.told.append
    )
    kit.finish()
    kit.offsets.commit("g", "Orders", 0, 5, 10)
    kit.offsets.commit("g", "%RETRY%g_Orders", 0, 5, 10)
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    assert sorted(kit.deleted) == ["%RETRY%g+Orders", "%RETRY%g_Orders", "Orders"]
    assert kit.topics.find("%RETRY%g_Orders") is None
    # Of groups that never consumed it nothing is known.
    assert kit.topics.find("%RETRY%h_Orders") is not None
    assert kit.topics.find("%RETRY%g") is not None
    assert kit.offsets.topics_of("g") == []


def test_a_topic_that_is_not_there_is_deleted_what_is_left_of_it() -> None:
    kit = AdminKit()
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    assert kit.deleted == ["Orders"]
    assert kit.ask(215, {"topic": "%RETRY%g+Orders"}).code == 0


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        (" ", "The specified topic is blank."),
        ("TBW102", "The topic[TBW102] is conflict with system topic."),
        ("SCHEDULE_TOPIC_XXXX", "conflict with system topic"),
        ("../commitlog", "'.'"),
        ("%RETRY%../x", "'.'"),
        ("a+b", "'+'"),
    ],
)
def test_what_is_not_to_be_deleted_is_not(topic: str, said: str) -> None:
    kit = AdminKit()
    answer = kit.ask(215, {"topic": topic})
    assert answer.code == 29
    assert said in answer.remark
    assert kit.deleted == []


def test_a_topic_that_could_not_be_saved_away_keeps_everything() -> None:
    kit = AdminKit()
    kit.ask(17, fields())
    kit.offsets.commit("g", "Orders", 0, 5, 10)
    kit.disk.faults.fail_call(1)
    assert kit.ask(215, {"topic": "Orders"}).code == 1
    assert (kit.deleted, kit.offsets.groups_of("Orders")) == ([], ["g"])
    assert kit.topics.find("Orders") == ORDERS


def test_who_makes_a_topic_is_answered_when_name_servers_have_heard_of_it() -> None:
    heard: list[Callable[[], None]] = []
    kit = AdminKit(announce=heard.append)
    outbox = kit.send(17, create_fields(ORDERS))
    kit.finish()
    assert (kit.topics.find("Orders"), outbox) == (ORDERS, [])
    heard.pop()()
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 0
    kit.disk.faults.fail_call(1)
    assert kit.ask(17, create_fields(TopicConfig("Bills"))).code == 1
    assert heard == []


def test_who_deletes_a_topic_is_answered_when_no_name_server_hears_of_it_any_more() -> None:
    heard: list[Callable[[], None]] = []
    kit = AdminKit(announce=heard.append)
    outbox = kit.send(215, {"topic": "Orders"})
    kit.finish()
    assert (kit.deleted, outbox) == (["Orders"], [])
    heard.pop()()
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 0


def test_a_deletion_is_answered_when_the_messages_are_gone() -> None:
    kit = AdminKit()
    going: list[tuple[list[str], Done]] = []
    handlers = TopicHandlers(
        kit.topics,
        kit.offsets,
        IDENTITY,
        lambda topics, done: going.append((list(topics), done)),
        kit.cleaned.append,
        at_once,
    )
    outbox: Effects = []
    command = RemotingCommand(215, ext_fields={"topic": "Orders"})
    request = Request(ChannelId(1), command, kit.clock.now(), outbox)
    answer_with(request_table(handlers.rows())[215].serve, request)
    kit.finish()
    ((topics, done),) = going
    assert (topics, outbox) == (["Orders"], [])
    done(None)
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 0


def test_messages_that_cannot_be_deleted_are_answered_with_why() -> None:
    kit = AdminKit()
    kit.delete_error = DiskFailed("the disk is gone")
    answer = kit.ask(215, {"topic": "Orders"})
    assert (answer.code, answer.remark) == (1, "it was not saved: the disk is gone")


def test_changes_are_for_administrators() -> None:
    kit = AdminKit()
    handlers = TopicHandlers(
        kit.topics,
        kit.offsets,
        IDENTITY,
        kit.delete_messages,
        kit.cleaned.append,
        at_once,
    )
    assert {row.lane for row in handlers.rows()} == {Lane.ADMIN}
