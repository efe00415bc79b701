"""HTTP/2, HPACK and the readers of gRPC, compiled and pure: the same bytes lead to the same."""

from importlib import import_module
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.protocol.http2.frames import DATA, END_STREAM, frame
from aerobee.protocol.http2.hpack import encode_headers
from aerobee.protocol.http2.huffman import encode_huffman
from tests.grpc_requests import PLAIN, send_request
from tests.http2_kit import HELLO, call_headers, unary
from tests.pure import pure
from tests.unit.protocol.grpc.test_ack_message_reader import request as ack_request

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.http2.connection"), reason="nothing is compiled"
)
SIDES = (import_module, pure)
_NUMBERS = (
    "start_offset",
    "pop_time",
    "invisible_ms",
    "revive_queue",
    "broker_name",
    "queue_id",
    "queue_offset",
)


def edited(data: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with some of them changed, cut off or doubled."""
    at = st.integers(0, len(data))
    return st.tuples(at, st.binary(max_size=3), at).map(
        lambda edit: data[: edit[0]] + edit[1] + data[edit[2] :]
    )


def outcome(act: Any) -> tuple[str, object]:
    try:
        return "fine", act()
    except Exception as error:
        return type(error).__name__, str(error)


CALLS = HELLO + unary(1, "/s/M", b"question") + unary(3, "/s/N", b"x" * 40)
MORE = b"".join(unary(number, "/s/M", b"again") for number in range(3, 13, 2))
STREAMS = st.one_of(
    edited(MORE),
    edited(CALLS),
    st.lists(
        st.builds(
            frame, st.integers(0, 10), st.integers(0, 63), st.integers(0, 5), st.binary(max_size=12)
        ),
        max_size=8,
    ).map(lambda frames: CALLS + b"".join(frames)),
    st.just(CALLS + frame(DATA, END_STREAM, 1, b"late")),
)


@given(STREAMS, st.integers(1, 60))
def test_connections_tell_the_same_and_say_the_same(data: bytes, size: int) -> None:
    told = []
    for side in SIDES:
        connection = side("aerobee.protocol.http2.connection").Http2Connection()
        events: list[object] = []
        for at in range(0, len(data), size):
            done = outcome(lambda: connection.receive(data[at : at + size], 5))  # noqa: B023
            if done[0] != "fine":
                events.append(done)
                break
            events.append([tuple(one) for one in cast(list[Any], done[1])])
        told.append((events, connection.take_output(), len(connection)))
    assert told[0] == told[1]


SHOWN = encode_headers(
    [*call_headers("/s/M"), ("x-mq-request-id", "00000001"), ("grpc-timeout", "30S")]
)


@given(edited(SHOWN), st.lists(edited(SHOWN), max_size=3))
def test_shapes_are_learnt_and_recognised_the_same(shown: bytes, blocks: list[bytes]) -> None:
    seen: list[object] = []
    for side in SIDES:
        module = side("aerobee.protocol.http2.header_shape")
        decoder = side("aerobee.protocol.http2.hpack").HeaderDecoder(1_024)
        fields = outcome(lambda: decoder.decode(shown))  # noqa: B023
        if fields[0] != "fine" or decoder.changes:
            seen.append(fields)
            continue
        shape = module.HeaderShape(shown, fields[1], 0)
        is_learnt = shape.learn(1_024)
        known = [is_learnt and shape.recognises(block) for block in [shown, *blocks]]
        seen.append((shape.path, is_learnt, known))
    assert seen[0] == seen[1]


@given(STREAMS, st.integers(40, 400))
def test_calls_are_found_the_same(data: bytes, size: int) -> None:
    told = []
    for side in SIDES:
        paths = frozenset({"/s/M"})
        connection = side("aerobee.protocol.http2.connection").Http2Connection(None, paths)
        connection.receive(HELLO + unary(1, "/s/M", b"shown"), 5)
        found: list[object] = []
        for at in range(0, len(data), size):
            connection.feed(data[at : at + size], 5)
            while True:
                if connection.find_call():
                    place = (connection.call_start, connection.call_stop)
                    found.append((connection.call_stream, place, connection.answer_bytes_max()))
                    connection.pass_call()
                    continue
                done = outcome(connection.read)
                if done[0] != "fine" or not connection.is_at_call:
                    break
            found.append(done[0])
            if done[0] != "fine":
                break
        told.append((found, connection.take_output(), len(connection)))
    assert told[0] == told[1]


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_header_blocks_are_read_the_same(blocks: list[bytes]) -> None:
    read = []
    for side in SIDES:
        decoder = side("aerobee.protocol.http2.hpack").HeaderDecoder(200)
        read.append([outcome(lambda: decoder.decode(block)) for block in blocks])  # noqa: B023
    assert read[0] == read[1]


@given(st.one_of(st.binary(max_size=40), st.binary(max_size=20).map(encode_huffman)))
def test_huffman_codes_are_read_the_same(data: bytes) -> None:
    read = [
        outcome(lambda: side("aerobee.protocol.http2.huffman").decode_huffman(data))  # noqa: B023
        for side in SIDES
    ]
    assert read[0] == read[1]


@given(st.one_of(edited(send_request()), edited(PLAIN).map(send_request)))
def test_sends_are_read_the_same(request: bytes) -> None:
    read: list[object] = []
    for side in SIDES:
        draft = side("aerobee.protocol.message.message_draft").MessageDraft()
        reader = side("aerobee.protocol.grpc.send_message_reader").SendMessageReader()
        is_read = reader.read(request, draft)
        found = (draft.topic, draft.properties_text(), draft.body_bytes(), draft.born_timestamp)
        read.append((found, reader.answer(7)) if is_read else is_read)
    assert read[0] == read[1]


@given(edited(ack_request()))
def test_acknowledgements_are_read_the_same(request: bytes) -> None:
    read: list[object] = []
    for side in SIDES:
        reader = side("aerobee.protocol.grpc.ack_message_reader").AckMessageReader()
        is_read = reader.read(request)
        numbers = [getattr(reader, name) for name in _NUMBERS]
        read.append((numbers, reader.message_id(), reader.answer()) if is_read else is_read)
    assert read[0] == read[1]
