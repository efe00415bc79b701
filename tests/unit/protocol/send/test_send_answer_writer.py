"""Of the Python original: the compiled one is tested where sends are answered with it."""

from typing import Any

import pytest

from aerobee.protocol.message.recall_handle import RecallHandle, decode_recall_handle
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode
from tests.pure import pure

module = pure("aerobee.protocol.send.send_answer_writer")
buffers = pure("aerobee.protocol.remoting.reply_buffer")
HOST_V4 = bytes((192, 168, 1, 10)) + (10911).to_bytes(4, "big")
HOST_V6 = bytes(15) + b"\x01" + (10911).to_bytes(4, "big")
SENDER = memoryview(b"..C00002021F384E0E2F2A49FAF0BA0001..")


def answer(
    output: Any, *, is_binary: bool, offsets: list[int], opaque: int = 7, host: bytes = HOST_V4
) -> None:
    writer = module.SendAnswerWriter("DefaultRegion", True, host)
    writer.begin(output, is_binary, len(offsets), 32)
    for offset in offsets:
        writer.add_id(offset)
    writer.end(opaque, 3, 12345678901, SENDER, 2, 32)


def read_all(data: bytes) -> list[RemotingCommand]:
    frames = FrameReader(FrameLimits())
    frames.receive(data)
    commands = []
    while frames.advance():
        commands.append(decode(frames))
    assert frames.pending_size() == 0
    return commands


@pytest.mark.parametrize("is_binary", [False, True])
def test_an_answer_says_what_a_client_looks_for(is_binary: bool) -> None:
    output = buffers.ReplyBuffer()
    answer(output, is_binary=is_binary, offsets=[4096])
    (said,) = read_all(output.take())
    assert said.is_response
    assert (said.code, said.opaque, said.version, said.language) == (0, 7, 513, "JAVA")
    assert said.serialize_type == is_binary
    assert said.ext_fields == {
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "msgId": "C0A8010A00002A9F0000000000001000",
        "queueId": "3",
        "queueOffset": "12345678901",
        "transactionId": "C00002021F384E0E2F2A49FAF0BA0001",
    }


@pytest.mark.parametrize("is_binary", [False, True])
def test_a_batch_has_an_id_for_each_message(is_binary: bool) -> None:
    output = buffers.ReplyBuffer()
    answer(output, is_binary=is_binary, offsets=[0, 256])
    (said,) = read_all(output.take())
    assert said.ext_fields["msgId"] == (
        "C0A8010A00002A9F0000000000000000,C0A8010A00002A9F0000000000000100"
    )


def test_answers_stand_behind_one_another_and_the_buffer_grows() -> None:
    output = buffers.ReplyBuffer()
    for opaque in range(-300, 300):
        answer(output, is_binary=opaque % 2 == 0, offsets=[opaque + 300], opaque=opaque)
    assert [said.opaque for said in read_all(output.take())] == list(range(-300, 300))


def test_a_host_of_sixteen_bytes_makes_longer_ids() -> None:
    output = buffers.ReplyBuffer()
    answer(output, is_binary=False, offsets=[1] * 500, host=HOST_V6)
    (said,) = read_all(output.take())
    assert {len(one) for one in said.ext_fields["msgId"].split(",")} == {56}


def test_a_region_that_json_would_have_to_escape_is_refused() -> None:
    with pytest.raises(Exception, match="region"):
        module.SendAnswerWriter('a"b', True, HOST_V4)


@pytest.mark.parametrize("is_binary", [False, True])
def test_a_message_that_waits_can_be_taken_back_by_its_answer_and_no_other(is_binary: bool) -> None:
    output = buffers.ReplyBuffer()
    writer = module.SendAnswerWriter("DefaultRegion", True, HOST_V4)
    writer.begin_handle(b"broker-a", b"Orders", 1_700_000_000_001, SENDER, 2, 32)
    for opaque in (7, 8):
        writer.begin(output, is_binary, 1, 32)
        writer.add_id(4096)
        writer.end(opaque, 3, 5, SENDER, 2, 32)
    waits, other = read_all(output.take())
    handle = decode_recall_handle(waits.ext_fields.pop("recallHandle"))
    assert handle == RecallHandle(
        "Orders", "broker-a", 1_700_000_000_001, "C00002021F384E0E2F2A49FAF0BA0001"
    )
    assert other.ext_fields == waits.ext_fields
