"""Sends over gRPC: what is stored, and what is refused."""

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, ProgramError, bodies

TOO_LARGE_BYTES = (4 << 20) + 1


@pytest.mark.feature("grpc-send")
def test_a_message_is_stored_and_comes_as_it_was_sent(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="NORMAL")
    ground.create_group(names.group, retries=16)
    sent = ["first", "Grüße 订单"]
    told = client.send("sync", names.topic, *sent, tags="red", keys="k1 k2", colour="teal")
    stored = {message.body.decode(): message for message in ground.stored_all(names.topic, 2)}
    assert [stored[body].unique_id for body in sent] == [event["msgId"] for event in told]
    for message in stored.values():
        assert (message.tag, sorted(message.keys)) == ("red", ["k1", "k2"])
        assert message.properties["colour"] == "teal"
    client.open(names.one, names.group, names.topic)
    found = client.take(names.one, 2)
    client.ack(names.one, found)
    assert sorted(bodies(found)) == sorted(sent)
    for event in found:
        # To one client, keys are a set.
        assert sorted(event["keys"].split()) == ["k1", "k2"]
        assert (event["tags"], event["colour"]) == ("red", "teal")
        assert (event["topic"], event["attempt"]) == (names.topic, 1)
        assert event["msgId"] == stored[event["body"]].unique_id


@pytest.mark.feature("grpc-async")
def test_sends_that_are_in_flight_together_are_all_stored(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="NORMAL")
    sent = [f"body {number}" for number in range(50)]
    told = client.send("async", names.topic, *sent)
    stored = ground.stored_all(names.topic, len(sent))
    assert sorted(message.body.decode() for message in stored) == sorted(sent)
    assert {message.unique_id for message in stored} == {event["msgId"] for event in told}


@pytest.mark.feature("grpc-fifo-send")
def test_a_message_group_keeps_to_one_queue_in_the_order_of_its_sends(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="FIFO")
    groups = {word: [f"{word} {number}" for number in range(5)] for word in ("a", "b", "c")}
    for number in range(5):
        for word, sent in groups.items():
            client.send("sync", names.topic, sent[number], shard=word)
    stored = ground.stored_all(names.topic, 15)
    for word, sent in groups.items():
        own = [message for message in stored if message.body.decode() in sent]
        assert [message.body.decode() for message in own] == sent
        assert len({message.queue_id for message in own}) == 1
        assert {message.properties["__SHARDINGKEY"] for message in own} == {word}


@pytest.mark.feature("grpc-wrong-type")
def test_a_message_of_another_type_is_refused(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="FIFO")
    with pytest.raises(ProgramError, match="send"):
        client.send("sync", names.topic, "of no message group")
    client.send("sync", names.topic, "of one", shard="one")
    assert [message.body for message in ground.stored_all(names.topic, 1)] == [b"of one"]


@pytest.mark.feature("grpc-too-large")
def test_a_message_that_is_too_large_is_refused(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="NORMAL")
    with pytest.raises(ProgramError, match="send"):
        client.send("sync", names.topic, "x" * TOO_LARGE_BYTES)
    client.send("sync", names.topic, "small")
    assert [message.body for message in ground.stored_all(names.topic, 1)] == [b"small"]
