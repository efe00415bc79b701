import gc
import json
import struct
import sys
from collections.abc import Callable

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import RecordWriter
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.header_json import decode_json_header
from aerobee.protocol.send.send_header import SendHeader, is_compiled
from tests.wire import (
    JAVA_FIELDS,
    LONG_NAMES,
    binary_header,
    cpp_header,
    frame,
    go_header,
    java_header,
    node_header,
    send_values,
)

Read = Callable[[SendHeader, FrameReader, MessageDraft], bool]
BOTH = pytest.mark.parametrize("read", [SendHeader.read, SendHeader.scan], ids=["read", "scan"])
LONG_FIELDS = {LONG_NAMES[letter]: value for letter, value in JAVA_FIELDS.items()}
NUMBERS = "defhj"
EXPECTED_PROPERTIES = JAVA_FIELDS["i"].encode()


def current(data: bytes) -> FrameReader:
    frames = FrameReader()
    frames.receive(data)
    assert frames.advance()
    return frames


def values(data: bytes, read: Read) -> dict[str, object] | None:
    """What is read from a frame into things that hold something else before, or None."""
    header, draft = SendHeader(), MessageDraft()
    draft.set_properties(b"old")
    draft.prepared_offset = 5
    draft.is_batch = True
    draft.reconsume_times = 9
    return send_values(header, draft) if read(header, current(data), draft) else None


EXPECTED = {
    "code": 310,
    "flag": 0,
    "opaque": 7,
    "version": 513,
    "default_topic_queue_nums": 4,
    "max_reconsume_times": -1,
    "is_unit_mode": False,
    "topic": b"Orders",
    "queue_id": 1,
    "message_flag": 0,
    "sys_flag": 0,
    "born_timestamp": 1794732382394,
    "reconsume_times": 0,
    "prepared_offset": 0,
    "is_batch": False,
    "properties": EXPECTED_PROPERTIES,
    "body_size": 4,
}


@BOTH
def test_a_java_send_is_read(read: Read) -> None:
    assert values(frame(java_header(310, JAVA_FIELDS), b"body"), read) == EXPECTED


@BOTH
def test_a_binary_send_is_read_the_same(read: Read) -> None:
    data = frame(binary_header(310, JAVA_FIELDS), b"body", 1)
    assert values(data, read) == EXPECTED


@BOTH
def test_long_names_mean_what_the_letters_mean(read: Read) -> None:
    expected = EXPECTED | {"code": 10}
    assert values(frame(java_header(10, LONG_FIELDS), b"body"), read) == expected
    assert values(frame(binary_header(10, LONG_FIELDS), b"body", 1), read) == expected


@BOTH
def test_a_go_send_is_read(read: Read) -> None:
    data = frame(go_header(10, LONG_FIELDS), b"body")
    assert values(data, read) == EXPECTED | {"code": 10, "version": 317}


@BOTH
def test_a_cpp_send_is_read(read: Read) -> None:
    fields: dict[str, object] = {
        name: int(value) if letter in NUMBERS else value
        for letter, name in LONG_NAMES.items()
        if (value := JAVA_FIELDS.get(letter)) is not None
    }
    fields |= {"batch": "1", "AccessKey": "", "OnsChannel": "ALIYUN", "Signature": "abc="}
    data = frame(cpp_header(10, fields), b"body")
    assert values(data, read) == EXPECTED | {"code": 10, "version": 63, "is_batch": True}


@BOTH
def test_a_node_send_is_read(read: Read) -> None:
    fields: dict[str, object] = {
        letter: int(value) if letter in NUMBERS + "g" else value
        for letter, value in JAVA_FIELDS.items()
        if letter not in "mn"
    }
    fields |= {"k": True}
    data = frame(node_header(310, fields), b"body")
    assert values(data, read) == EXPECTED | {"version": 121, "is_unit_mode": True}


@BOTH
def test_a_batch_is_told_by_its_code_or_by_its_field(read: Read) -> None:
    for code, text, is_batch in (
        (320, "false", True),
        (310, "true", True),
        (310, "TRUE", True),
        (310, "1", True),
        (310, "0", False),
        (310, "yes", False),
    ):
        data = frame(java_header(code, JAVA_FIELDS | {"m": text}), b"body")
        assert values(data, read) == EXPECTED | {"code": code, "is_batch": is_batch}


@BOTH
def test_the_retry_fields_are_read(read: Read) -> None:
    fields = JAVA_FIELDS | {"b": "%RETRY%g", "j": "3", "l": "16"}
    changed = {"topic": b"%RETRY%g", "reconsume_times": 3, "max_reconsume_times": 16}
    assert values(frame(java_header(310, fields), b"body"), read) == EXPECTED | changed


@BOTH
def test_numbers_at_their_limits_are_read(read: Read) -> None:
    fields = JAVA_FIELDS | {
        "e": "-2147483648",
        "f": "2147483647",
        "h": "-1",
        "g": "9223372036854775807",
    }
    changed = {
        "queue_id": -(2**31),
        "sys_flag": 2**31 - 1,
        "message_flag": -1,
        "born_timestamp": 2**63 - 1,
    }
    assert values(frame(java_header(310, fields), b"body"), read) == EXPECTED | changed


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "",
        "K\x01订单é🚀\x02",
        'a\x01"\\/\b\f\n\r\t\x02',
        "k\x01" + "v" * 1000 + "\x02",
        "x" * 32764,
        "\x7f",
    ],
)
def test_properties_come_out_of_their_escapes(text: str, read: Read) -> None:
    header = java_header(310, JAVA_FIELDS | {"i": text})
    result = values(frame(header, b"body"), read)
    assert result is not None
    assert result["properties"] == text.encode()


@BOTH
def test_characters_escaped_as_units_are_utf8_in_the_draft(read: Read) -> None:
    header = java_header(310, JAVA_FIELDS | {"i": "#"}).replace(b'"#"', rb'"\u8ba2\u00E9\u0041"')
    result = values(frame(header, b"body"), read)
    assert result is not None
    assert result["properties"] == "订éA".encode()


@BOTH
def test_a_header_without_properties_has_none(read: Read) -> None:
    fields = {letter: value for letter, value in JAVA_FIELDS.items() if letter != "i"}
    assert values(frame(java_header(310, fields), b"body"), read) == EXPECTED | {"properties": b""}


def test_the_body_is_taken_by_reference() -> None:
    frames = current(frame(java_header(310, JAVA_FIELDS), b"body"))
    draft = MessageDraft()
    assert SendHeader().read(frames, draft)
    assert draft.body_size == 4
    with_draft = sys.getrefcount(frames.view)
    del draft
    without_draft = sys.getrefcount(frames.view)
    assert without_draft < with_draft


@BOTH
def test_the_record_of_a_draft_has_the_body_and_the_properties(read: Read) -> None:
    """A draft's memories are not to be seen from Python; what is written from them is."""
    frames = current(frame(java_header(310, JAVA_FIELDS), b"the body itself"))
    draft = MessageDraft()
    assert read(SendHeader(), frames, draft)
    record = RecordWriter(bytes(8), False).encode(draft, 0, 0, 0)
    end = b"".join((b"\x06Orders", struct.pack(">h", draft.properties_size), EXPECTED_PROPERTIES))
    assert record.endswith(b"the body itself" + end)


# What is not read.


REFUSED = {
    "another request": java_header(34, {}),
    "a reply": java_header(325, JAVA_FIELDS),
    "a response": java_header(310, JAVA_FIELDS, flag=1),
    "no fields": java_header(310, None),
    "empty fields": java_header(310, {}),
    "a field twice": java_header(310, JAVA_FIELDS).replace(b'"d":"4"', b'"e":"1"'),
    "properties twice": java_header(310, JAVA_FIELDS).replace(b'"d":"4"', b'"i":""'),
    "an unknown field twice": java_header(310, JAVA_FIELDS).replace(
        b'"d":"4"', b'"x":"","y":"","x":""'
    ),
    "a top-level key twice": java_header(310, JAVA_FIELDS).replace(b'"version"', b'"opaque"'),
    "code twice": java_header(310, JAVA_FIELDS).replace(b'"version"', b'"code"'),
    "a queue id that is no number": java_header(310, JAVA_FIELDS | {"e": "x"}),
    "a queue id beyond 32 bits": java_header(310, JAVA_FIELDS | {"e": "2147483648"}),
    "a timestamp beyond 64 bits": java_header(310, JAVA_FIELDS | {"g": "9223372036854775808"}),
    "an opaque beyond 32 bits": java_header(310, JAVA_FIELDS, opaque=2**31),
    "a bare number with a leading zero": java_header(310, JAVA_FIELDS).replace(
        b'"e":"1"', b'"e":01'
    ),
    "a bare fraction": java_header(310, JAVA_FIELDS).replace(b'"e":"1"', b'"e":1.5'),
    "an unknown number beyond 64 bits": java_header(310, JAVA_FIELDS).replace(
        b'"d":"4"', b'"x":9223372036854775808'
    ),
    "an object in a field": java_header(310, JAVA_FIELDS).replace(b'"d":"4"', b'"d":{}'),
    "an empty topic": java_header(310, JAVA_FIELDS | {"b": ""}),
    "bad UTF-8 in a group": java_header(310, JAVA_FIELDS).replace(b"group", b"gr\xffup"),
    "bad UTF-8 in properties": java_header(310, JAVA_FIELDS).replace(b"KEYS", b"KE\xc0\xaf"),
    "half a surrogate pair": java_header(310, JAVA_FIELDS).replace(rb"\u0001", rb"\ud800", 1),
    "a raw control character": java_header(310, JAVA_FIELDS).replace(rb"\u0001", b"\x01", 1),
    "a raw control character in a group": java_header(310, JAVA_FIELDS).replace(
        b"group", b"gr\nup"
    ),
    "an unknown escape": java_header(310, JAVA_FIELDS).replace(rb"\u0001", rb"\v0001", 1),
    "too long properties": java_header(310, JAVA_FIELDS | {"i": "x" * 32768}),
    "properties that are cut": java_header(310, JAVA_FIELDS | {"i": "x" * 33_000}),
    "a group that is cut": java_header(310, JAVA_FIELDS | {"a": "x" * 33_000}),
    "a remark and properties that are cut": java_header(
        310, JAVA_FIELDS | {"i": "x" * 33_000}
    ).replace(b'"version"', b'"remark":"' + b"x" * 33_000 + b'","version"'),
    "129 fields": java_header(310, JAVA_FIELDS | {f"x{n}": "" for n in range(129)}),
    "garbage after the end": java_header(310, JAVA_FIELDS) + b"x",
    "a trailing comma": java_header(310, JAVA_FIELDS)[:-1] + b",}",
    "a trailing comma in the fields": java_header(310, JAVA_FIELDS).replace(b'"},', b'",},'),
    "no bytes": b"",
    "one byte": b"{",
    "not JSON": b"hello, world",
    "a wrong word": java_header(310, JAVA_FIELDS).replace(b'"m":"false"', b'"m":falsy'),
    "a truncated word": java_header(310, JAVA_FIELDS).replace(b'"m":"false"', b'"m":tru'),
}


@BOTH
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_not_read(name: str, read: Read) -> None:
    assert values(frame(REFUSED[name], b"body"), read) is None


@BOTH
@pytest.mark.parametrize(
    "more",
    [
        {"i": "x" * 32_768},
        {"i": "x" * 32_769},
        {"a": "x" * 32_769},
        {"x" * 129: ""},
        {f"x{n}": "" for n in range(129)},
    ],
)
def test_a_binary_header_that_is_too_large_is_not_read(more: dict[str, str], read: Read) -> None:
    assert values(frame(binary_header(310, JAVA_FIELDS | more), b"body", 1), read) is None


@BOTH
@pytest.mark.parametrize("letter", "befgh")
def test_a_send_without_a_field_it_needs_is_not_read(letter: str, read: Read) -> None:
    fields = {key: value for key, value in JAVA_FIELDS.items() if key != letter}
    assert values(frame(java_header(310, fields)), read) is None
    assert values(frame(binary_header(310, fields), b"", 1), read) is None


@BOTH
def test_no_prefix_of_a_header_is_read(read: Read) -> None:
    for serialize_type, header in enumerate(
        (java_header(310, JAVA_FIELDS), binary_header(310, JAVA_FIELDS))
    ):
        for end in range(len(header)):
            # The rest follows as a body, so that a scan beyond its end would find what it wants.
            assert values(frame(header[:end], header[end:], serialize_type), read) is None


@BOTH
def test_wrong_sizes_in_a_binary_header_are_not_read(read: Read) -> None:
    good = binary_header(310, JAVA_FIELDS)
    for position, size in ((13, ">i"), (17, ">i"), (21, ">h"), (24, ">i")):
        for value in (-1, 1000, 0, 2):
            data = bytearray(good)
            struct.pack_into(size, data, position, value)
            if bytes(data) != good:
                assert values(frame(bytes(data), b"body", 1), read) is None


@BOTH
def test_a_binary_field_that_comes_twice_or_is_not_utf8_is_not_read(read: Read) -> None:
    pairs = list(JAVA_FIELDS.items())
    assert values(frame(binary_header(310, [*pairs, ("e", "1")]), b"", 1), read) is None
    twice = binary_header(310, [*pairs, ("x", ""), ("x", "")])
    assert values(frame(twice, b"", 1), read) is None
    bad = binary_header(310, JAVA_FIELDS).replace(b"KEYS", b"KE\xc0\xaf")
    assert values(frame(bad, b"", 1), read) is None


def test_before_the_first_frame_nothing_is_read() -> None:
    assert not SendHeader().read(FrameReader(), MessageDraft())
    assert not SendHeader().scan(FrameReader(), MessageDraft())


# Streams.


def stream(count: int) -> list[bytes]:
    """Sends of one producer, with the odd one in between."""
    frames = []
    for number in range(count):
        fields = JAVA_FIELDS | {
            "e": str(number % 16),
            "g": str(1794732382394 + number * number),
            "i": f"KEYS\x01k{'9' * (number % 7)}\x02é{number}",
        }
        if number % 10 == 3:
            fields |= {"b": f"T{number}", "f": "8", "h": "5", "m": "true", "j": "2"}
        if number % 10 in (6, 7):
            del fields["i"]
        frames.append(frame(java_header(310, fields, opaque=number * 1000 - 5), b"b" * number))
        if number % 10 == 5:
            frames.append(frame(java_header(34, {}), b"{}"))
        if number % 10 == 8:
            frames.append(frame(binary_header(310, fields), b"x", 1))
        if number % 10 == 9:
            frames.append(frame(java_header(310, fields | {"e": "x"})))
    return frames


@BOTH
def test_a_header_is_read_the_same_whatever_came_before(read: Read) -> None:
    header, draft = SendHeader(), MessageDraft()
    for data in stream(60):
        draft.is_batch = True
        draft.topic = b"of somebody else"
        draft.flag = draft.sys_flag = draft.reconsume_times = 99
        draft.set_properties(b"of somebody else")
        draft.prepared_offset = 9
        found = send_values(header, draft) if read(header, current(data), draft) else None
        assert found == values(data, read)


@BOTH
@pytest.mark.parametrize(
    ("found", "put"),
    [
        (b'"e":"1"', b'"e":"01"'),
        (b'"e":"1"', b'"e":"1x"'),
        (b'"e":"1"', b'"e":""'),
        (b'"e":"1"', b'"e":"2147483648"'),
        (b'"g":"1794732382394"', b'"g":"-"'),
        (b'"opaque":7', b'"opaque":07'),
        (b'"opaque":7', b'"opaque":-7'),
        (b'"opaque":7', b'"opaque":'),
        (b'"opaque":7', b'"opaque":2147483648'),
        (b'"version":513}', b'"version":513} '),
        (b'"version":513}', b'"version":513'),
        (b'"version":513}', b'"version":513}x'),
        (rb"KEYS\u0001", rb"KEYS\u00g1"),
        (rb"KEYS\u0001", b'KE"S'),
        (b'"h":"0"', b'"h":"7"'),
    ],
)
def test_a_header_almost_like_the_last_is_judged_as_if_it_came_first(
    found: bytes, put: bytes, read: Read
) -> None:
    good = java_header(310, JAVA_FIELDS)
    assert found in good
    other = frame(good.replace(found, put), b"body")
    header, draft = SendHeader(), MessageDraft()
    assert read(header, current(frame(good, b"body")), draft)
    result = send_values(header, draft) if read(header, current(other), draft) else None
    assert result == values(other, read)
    assert read(header, current(frame(good, b"body")), draft)
    assert send_values(header, draft) == EXPECTED


def test_a_bare_number_like_the_last_may_have_no_leading_zero() -> None:
    """C++ writes numbers without quotes."""
    good = java_header(310, JAVA_FIELDS).replace(b'"e":"1"', b'"e":1')
    header, draft = SendHeader(), MessageDraft()
    assert header.scan(current(frame(good)), draft)
    assert not header.scan(current(frame(good.replace(b'"e":1', b'"e":01'))), draft)


def test_a_header_larger_than_any_template_is_read_each_time() -> None:
    data = frame(java_header(310, JAVA_FIELDS | {"i": "k\x01" + "v" * 5000}), b"body")
    header, draft = SendHeader(), MessageDraft()
    for _ in range(3):
        assert header.read(current(data), draft)
        assert draft.properties_size == 5002


@pytest.mark.skipif(not is_compiled(), reason="the interpreter makes objects for everything")
def test_a_stream_of_one_topic_makes_no_object() -> None:
    frames = current(frame(java_header(310, JAVA_FIELDS), b"body"))
    header, draft = SendHeader(), MessageDraft()
    assert header.read(frames, draft)
    topic = draft.topic
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        header.read(frames, draft)
    assert abs(sys.getallocatedblocks() - before) < 20
    assert draft.topic is topic


def test_the_topic_object_is_kept_while_the_topic_is() -> None:
    header, draft = SendHeader(), MessageDraft()
    topics = []
    for number in range(3):
        fields = JAVA_FIELDS | {"h": str(number)}
        assert header.scan(current(frame(java_header(310, fields))), draft)
        topics.append(draft.topic)
    assert topics[0] is topics[1] is topics[2]


# By way of the general codec.


def decoded(header: bytes) -> CommandHeader:
    command = CommandHeader()
    decode_json_header(memoryview(header), 0, len(header), command)
    return command


def test_taking_a_decoded_header_gives_the_same_values() -> None:
    for text in (java_header(310, JAVA_FIELDS), go_header(10, LONG_FIELDS)):
        frames = current(frame(text, b"body"))
        header, draft = SendHeader(), MessageDraft()
        header.take(decoded(text), frames, draft)
        assert send_values(header, draft) == values(frame(text, b"body"), SendHeader.scan)


def test_taking_what_the_scan_will_not_read() -> None:
    spaced = json.dumps(
        {"extFields": JAVA_FIELDS | {"l": "", "b": "Ord\u0065rs"}, "code": 310, "x": [1]}, indent=1
    ).encode()
    frames = current(frame(spaced, b"body"))
    header, draft = SendHeader(), MessageDraft()
    assert not header.scan(frames, draft)
    header.take(decoded(spaced), frames, draft)
    assert send_values(header, draft) == EXPECTED | {"opaque": 0, "version": 0}


def test_taking_a_header_at_fault_names_the_field() -> None:
    text = java_header(10, LONG_FIELDS | {"queueId": "x"})
    with pytest.raises(RemoteProtocolError, match="the field queueId of a send is no number: 'x'"):
        SendHeader().take(decoded(text), current(frame(text)), MessageDraft())


@pytest.mark.parametrize("more", [{"a": "x" * 33_000}, {f"x{n}": "" for n in range(129)}])
def test_a_header_that_is_too_large_is_not_taken(more: dict[str, str]) -> None:
    text = java_header(310, JAVA_FIELDS | more)
    with pytest.raises(RemoteProtocolError, match="a send whose header is too large"):
        SendHeader().take(decoded(text), current(frame(text)), MessageDraft())


def test_a_scan_after_a_taken_header_is_not_misled_by_it() -> None:
    first = java_header(310, JAVA_FIELDS)
    other = java_header(320, JAVA_FIELDS | {"b": "Other"}, opaque=99)
    header, draft = SendHeader(), MessageDraft()
    assert header.scan(current(frame(first, b"body")), draft)
    header.take(decoded(other), current(frame(other)), draft)
    assert header.scan(current(frame(first, b"body")), draft)
    assert send_values(header, draft) == EXPECTED
