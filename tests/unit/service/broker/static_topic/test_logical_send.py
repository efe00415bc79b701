from aerobee.model.queue_mapping import UNDECIDED, MappingItem, TopicMapping
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.static_topic.logical_send import (
    LogicalSend,
    find_leader,
    topic_of_send,
)
from aerobee.service.request import Answer

ITEM = MappingItem(1, 7, "a", 10_000)
MAPPING = TopicMapping(
    "T", "a", 1, 3, {0: (ITEM,), 1: (MappingItem(0, 2, "b", 0),), 2: (MappingItem(0, 8, "a", 0),)}
)


def send(number: int) -> RemotingCommand:
    return RemotingCommand(310, opaque=4, ext_fields={"b": "T", "e": str(number)}, body=b"x")


def test_a_send_goes_to_the_physical_queue_of_the_leader() -> None:
    found = find_leader(MAPPING, send(0), 0)
    assert found == LogicalSend(0, ITEM)
    assert isinstance(found, LogicalSend)
    changed = found.command(send(0))
    assert (changed.ext_fields, changed.opaque, changed.body) == ({"b": "T", "e": "7"}, 4, b"x")
    assert topic_of_send(changed) == "T"
    long = RemotingCommand(10, ext_fields={"topic": "T", "queueId": "0"})
    assert found.command(long).ext_fields == {"topic": "T", "queueId": "7"}


def test_the_answer_has_the_logical_queue_and_offset() -> None:
    said = {"msgId": "m", "queueId": "7", "queueOffset": "5"}
    shown = {"msgId": "m", "queueId": "0", "queueOffset": "10005"}
    assert LogicalSend(0, ITEM).answer(Answer(fields=said)).fields == shown
    opened = LogicalSend(0, MappingItem(1, 7, "a", UNDECIDED)).answer(Answer(fields=said))
    assert opened.fields == {**shown, "queueOffset": "-1"}
    refusal = Answer(remark="no")
    assert LogicalSend(0, ITEM).answer(refusal) is refusal


def test_a_queue_of_another_broker_is_named() -> None:
    assert find_leader(MAPPING, send(1), 0) == 1
    assert find_leader(MAPPING, send(9), 0) == 9


def test_a_send_that_names_no_queue_goes_round_those_of_the_broker() -> None:
    turns = [find_leader(MAPPING, send(-1), turn) for turn in range(4)]
    assert [one.number for one in turns if isinstance(one, LogicalSend)] == [0, 2, 0, 2]
    assert find_leader(TopicMapping("T", "c", 1, 3), send(-1), 0) == -1
