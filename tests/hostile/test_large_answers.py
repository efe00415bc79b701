"""Answers that are as large as a frame can be, or larger: said whole, or refused with a reason."""

import json

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.register_broker import (
    RegisterBroker,
    encode_compressed_register_broker,
)
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.remoting.frame import (
    FRAME_BYTES_MAX,
    HEADER_BYTES_MAX,
    FrameLimits,
    FrameReader,
)
from aerobee.storage.commit.commit_log import BATCH_ENTRIES_MAX
from tests.hostile.cases import Case
from tests.hostile.raw import connect
from tests.hostile.server import MIB, Server, send_fields, undisturbed
from tests.hostile.sweep import frame_of
from tests.wire_client import WireClient

PLACE = {
    "clusterName": "Other",
    "brokerName": "large",
    "brokerId": "0",
    "brokerAddr": "127.0.0.1:1",
}
NAMES = 70_000
"""Of 255 characters each, they are more than 16 MiB."""


def batch(count: int) -> bytes:
    return encode_batch(BatchMessage(b"x", {"UNIQ_KEY": "0A"}) for _ in range(count))


def header_of_answer(port: int, case: Case, form: int) -> bytes:
    """As it came: the ids of a large batch are more than our own reader takes."""
    frames = FrameReader(FrameLimits(FRAME_BYTES_MAX, HEADER_BYTES_MAX))
    with connect(port) as one:
        one.sendall(frame_of(case, form, 0, 7))
        while not frames.advance():
            frames.receive(one.recv(65536))
        return frames.header()


@pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
def test_the_largest_batch_is_answered_with_all_of_its_ids(server: Server, form: int) -> None:
    case = Case(320, "a batch", send_fields(f"Batch{form}"), batch(BATCH_ENTRIES_MAX))
    with undisturbed(server, grown_bytes_max=32 * MIB):
        for way in ("with a topic that is made first", "the short way"):
            header = header_of_answer(server.broker, case, form)
            assert header.startswith(b'{"code":0,' if form == JSON_TYPE else b"\0\0"), way
            assert header.count(b",7F000001") == BATCH_ENTRIES_MAX - 1, way
        too_many = case._replace(body=batch(BATCH_ENTRIES_MAX + 1))
        header = header_of_answer(server.broker, too_many, form)
        assert b"a batch of 4097 messages; 1 to 4096 may be" in header
        with WireClient(server.broker) as client:
            asked = client.ask(30, {"topic": f"Batch{form}", "queueId": "0"})
            assert asked.ext_fields == {"offset": str(2 * BATCH_ENTRIES_MAX)}


def test_a_list_that_no_frame_can_hold_is_refused_with_a_reason(server: Server) -> None:
    topics = {name: TopicConfig(name, 1, 1) for name in (f"{n:0255}" for n in range(NAMES))}
    body = encode_compressed_register_broker(RegisterBroker(topics))
    with undisturbed(server, grown_bytes_max=96 * MIB), WireClient(server.nameserver) as client:
        registered = client.ask(103, PLACE | {"compressed": "true"}, body)
        assert registered.code == 0, registered.remark
        for code, fields in ((206, {}), (224, {"cluster": "Other"})):
            refused = client.ask(code, fields)
            assert refused.code == 1
            assert refused.remark.startswith("the answer cannot be sent: a frame of ")
        assert client.ask(106).code == 0
        assert client.ask(104, PLACE).code == 0
        shown = json.loads(bytes(client.ask(206).body))
        assert len(shown["topicList"]) < NAMES
