"""A send of a client is what the broker holds, and what the client is told about it is true."""

import pytest

from aerobee.model.message import StoredMessage
from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.meeting import meet
from tests.interop.features.program import Event, Program, ProgramError, tagged
from tests.interop.features.servers import DELAY_SECONDS

LARGE = "long enough to be compressed; " * 400  # 12 kB


def by_body(stored: list[StoredMessage]) -> dict[str, StoredMessage]:
    found = {message.body.decode(): message for message in stored}
    assert len(found) == len(stored), "a body is there twice"
    return found


def check_told(told: Event, stored: StoredMessage) -> None:
    """Clients tell more or less of an answer; what they tell is so."""
    assert told["status"] == "SEND_OK"
    assert told["msgId"] in (stored.message_id, stored.offset_message_id)
    assert told.get("offsetMsgId", stored.offset_message_id) == stored.offset_message_id
    assert told.get("queueId", stored.queue_id) == stored.queue_id
    assert told["queueOffset"] == stored.queue_offset


@pytest.mark.feature("sync")
def test_each_answer_says_where_its_message_is(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    sent = ["plain", "Grüße 订单", LARGE]
    fields = {"tags": "red", "keys": "k1 k2", "colour": "teal"}
    told = client.send("sync", names.topic, *sent, **fields)
    stored = by_body(ground.stored_all(names.topic, len(sent)))
    assert stored.keys() == set(sent)
    for event, body in zip(told, sent, strict=True):
        message = stored[body]
        check_told(event, message)
        assert message.tag == "red"
        assert message.keys == ("k1", "k2")
        assert message.properties["colour"] == "teal"


@pytest.mark.feature("async")
def test_every_message_in_flight_gets_its_own_answer(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    sent = [f"body {number}" for number in range(50)]
    told = client.send("async", names.topic, *sent)
    stored = ground.stored_all(names.topic, len(sent))
    assert by_body(stored).keys() == set(sent)
    by_id = {id_: m for m in stored for id_ in (m.message_id, m.offset_message_id)}
    assert len({event["msgId"] for event in told}) == len(sent)
    for event in told:
        check_told(event, by_id[event["msgId"]])


@pytest.mark.feature("oneway")
def test_a_message_without_an_answer_arrives(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    sent = [f"body {number}" for number in range(5)]
    client.send("oneway", names.topic, *sent)
    assert by_body(ground.stored_all(names.topic, len(sent))).keys() == set(sent)


@pytest.mark.feature("batch")
def test_a_batch_is_stored_as_its_messages_one_after_the_other(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    sent = ["first", "second", "third"]
    (told,) = client.send("batch", names.topic, *sent, tags="red", keys="k1")
    stored = ground.stored_all(names.topic, len(sent))
    assert [message.body.decode() for message in stored] == sent
    assert {message.queue_id for message in stored} == {told["queueId"]}
    assert [message.queue_offset for message in stored] == [0, 1, 2]
    assert {(message.tag, message.keys) for message in stored} == {("red", ("k1",))}
    assert told["queueOffset"] == 0
    # Some clients give the messages of a batch no id of their own.
    ids = [message.unique_id for message in stored if message.unique_id]
    assert told["msgId"] == ",".join(ids)
    assert told["offsetMsgId"].split(",") == [message.offset_message_id for message in stored]


@pytest.mark.feature("ordered")
def test_messages_of_one_key_are_in_one_queue_in_the_order_of_sending(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    sent = {shard: [f"{shard}{number}" for number in range(6)] for shard in ("7", "8", "9")}
    for shard, texts in sent.items():
        client.send("ordered", names.topic, *texts, shard=shard)
    stored = ground.stored_all(names.topic, 18)
    assert len(stored) == 18
    for texts in sent.values():
        own = [message for message in stored if message.body.decode() in texts]
        assert len({message.queue_id for message in own}) == 1
        assert [message.body.decode() for message in own] == texts
    assert len({message.queue_id for message in stored}) > 1


@pytest.mark.feature("delayed")
def test_a_delayed_message_comes_late_and_never_early(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    meet(client, ground, names.topic, {names.one: set(range(QUEUES))})
    client.send("sync", names.topic, "level 2", tags="timed", level=2)
    client.send("sync", names.topic, "level 1", tags="timed", level=1)
    client.send("sync", names.topic, "at once", tags="timed")
    received = client.receive(names.one, lambda events: len(tagged(events, "timed")) == 3)
    by_text = {event["body"]: event for event in tagged(received, "timed")}
    assert by_text.keys() == {"at once", "level 1", "level 2"}
    for level in (1, 2):
        event, wanted = by_text[f"level {level}"], DELAY_SECONDS[level - 1] * 1000
        assert event["storeTimestamp"] - event["bornTimestamp"] >= wanted
        assert wanted <= event["time"] - event["bornTimestamp"] < wanted + 10_000


@pytest.mark.feature("too-large")
def test_a_message_that_is_too_large_is_refused_and_the_next_one_is_stored(
    client: Program, ground: Ground, names: Names, programs: Programs
) -> None:
    """Clients look at the size of a body, but not at that of the properties."""
    ground.create_topic(names.topic)
    client.send("sync", names.topic, "before")
    for size in (33_000, 70_000):
        with pytest.raises(ProgramError) as refused:
            client.send("sync", names.topic, "large", colour="x" * size)
        assert "msg properties length limit 32KB." in str(refused.value)
        if programs.client.startswith("java"):
            assert "MQBrokerException: CODE: 13  DESC: the message is illegal" in str(refused.value)
        client.send("sync", names.topic, f"after {size}")
    stored = by_body(ground.stored_all(names.topic, 3))
    assert stored.keys() == {"before", "after 33000", "after 70000"}


@pytest.mark.feature("first-send")
def test_the_first_send_makes_the_topic(client: Program, ground: Ground, names: Names) -> None:
    assert not ground.has_topic(names.topic)
    client.send("sync", names.topic, "first", "second")
    ground.wait_for_route(names.topic)
    assert by_body(ground.stored_all(names.topic, 2)).keys() == {"first", "second"}
