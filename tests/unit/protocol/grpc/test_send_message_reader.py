from typing import Any

import pytest

from aerobee.model.properties import RESERVED_NAMES, decode_properties, encode_properties
from aerobee.protocol.grpc.calls import SendMessageRequest, SendMessageResponse, SendResultEntry
from aerobee.protocol.grpc.message_mapping import stored_properties
from aerobee.protocol.grpc.resources import Digest, GrpcMessage, Resource, Status, timestamp_of
from aerobee.protocol.grpc.send_message_reader import SendMessageReader
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.message.message_draft import MessageDraft
from tests.grpc_requests import BORN_MS, PLAIN, plain_message, send_request


def read(message: GrpcMessage) -> MessageDraft | None:
    draft = MessageDraft()
    is_read = SendMessageReader().read(encode(SendMessageRequest([message])), draft)
    return draft if is_read else None


@pytest.mark.parametrize(
    "message",
    [
        plain_message(),
        plain_message(tag="red"),
        plain_message(tag=""),
        plain_message(keys=["k1"]),
        plain_message(keys=["k1", "order-7"]),
        plain_message(properties={"a": "1", "longer": "v" * 200, "with blank": "two words"}),
        plain_message(tag="t", keys=["k"], properties={"p": "q"}, queue_id=3),
        plain_message(body=b"\x00\xff" * 5_000),
        plain_message(born_timestamp=timestamp_of(5_000)),
    ],
)
def test_the_draft_has_what_the_general_mapping_gives(message: GrpcMessage) -> None:
    draft = read(message)
    assert draft is not None
    wanted = encode_properties(stored_properties(message, "orders", "10.0.0.9:1"))
    assert draft.properties_text() == wanted
    assert (draft.topic, draft.queue_id, draft.is_batch) == (b"orders", -1, False)
    assert (draft.flag, draft.sys_flag, draft.reconsume_times) == (0, 0, 0)
    assert draft.body_bytes() == message.body
    system = message.system_properties
    assert system is not None
    assert system.born_timestamp is not None
    assert draft.born_timestamp == system.born_timestamp.ms


@pytest.mark.parametrize(
    "system",
    [
        {"message_type": 2},
        {"message_type": 3},
        {"message_type": 4},
        {"message_group": "g"},
        {"delivery_timestamp": timestamp_of(BORN_MS)},
        {"priority": 0},
        {"trace_context": "t"},
        {"lite_topic": "l"},
        {"body_encoding": 2},
        {"body_digest": Digest(1, "00")},
        {"message_id": ""},
        {"message_id": " "},
        {"message_id": "with blank"},
        {"message_id": "x" * 256},
        {"tag": "a|b"},
        {"tag": "with blank"},
        {"tag": "t\x7f"},
        {"tag": "ü"},
        {"keys": ["a", ""]},
        {"keys": ["k"] * 17},
        {"keys": ["x" * 9_000]},
        {"born_timestamp": None},
        {"born_host": ""},
    ],
)
def test_messages_that_need_more_than_a_look_are_left(system: dict[str, Any]) -> None:
    assert read(plain_message(**system)) is None


@pytest.mark.parametrize(
    "properties",
    [
        {"": "v"},
        {"TAGS": "v"},
        {"__SHARDINGKEY": "v"},
        {"Upper": "v"},
        {"empty": ""},
        {"control": "a\x01b"},
        {"umlaut": "ü"},
        {f"p{number}": "v" for number in range(17)},
        {"long": "v" * 9_000},
    ],
)
def test_properties_that_need_a_check_are_left(properties: dict[str, str]) -> None:
    assert read(plain_message(properties=properties)) is None


def test_no_name_with_a_meaning_begins_with_a_small_letter() -> None:
    assert not [name for name in RESERVED_NAMES if "a" <= name[0] <= "z"]


def test_several_messages_an_empty_body_and_fields_that_come_twice_are_left() -> None:
    draft = MessageDraft()
    reader = SendMessageReader()
    assert not reader.read(b"", draft)
    assert not reader.read(2 * send_request(), draft)
    assert not reader.read(encode(SendMessageRequest([plain_message(body=b"")])), draft)
    assert not reader.read(send_request(PLAIN + b"\x22\x01x"), draft)
    assert not reader.read(send_request(PLAIN + encode(GrpcMessage(Resource("", "other")))), draft)
    twice = encode(plain_message(properties={"a": "1"})) + encode(GrpcMessage(None, {"a": "2"}))
    assert not reader.read(send_request(twice), draft)
    assert reader.read(send_request(), draft)
    assert decode_properties(draft.properties_text())["PGROUP"] == "orders"


@pytest.mark.parametrize("offset", [0, 1, 127, 128, 2**40])
@pytest.mark.parametrize("size", [1, 34, 60, 255])
def test_the_answer_is_an_entry_with_id_and_offset(offset: int, size: int) -> None:
    reader = SendMessageReader()
    message = plain_message(message_id="i" * size)
    assert reader.read(encode(SendMessageRequest([message])), MessageDraft())
    ok = Status(20000, "OK")
    entry = SendResultEntry(ok, "i" * size, "i" * size, offset)
    wanted = SendMessageResponse(ok, [entry])
    assert reader.answer(offset) == encode(wanted)
    assert decode(SendMessageResponse, reader.answer(offset)) == wanted
