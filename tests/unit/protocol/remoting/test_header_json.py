import json

import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.remoting.header_json import (
    decode_json_header,
    encode_json_header,
    parse_json_header,
)
from tests.header_cases import ACCEPTED, EXCESSIVE, REFUSED
from tests.wire import JAVA_FIELDS, cpp_header, go_header, java_header, node_header

READERS = [decode_json_header, parse_json_header]


def decoded(text: bytes) -> CommandHeader:
    header = CommandHeader()
    decode_json_header(memoryview(text), 0, len(text), header)
    return header


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ACCEPTED)
def test_what_real_clients_may_send_is_accepted(name: str, read: object) -> None:
    assert callable(read)
    text, expected = ACCEPTED[name]
    header = CommandHeader(99, remark="old", ext_fields={"old": "old"})
    read(memoryview(b"xx" + text + b"yy"), 2, 2 + len(text), header)
    assert header == expected


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", EXCESSIVE)
def test_what_is_too_large_is_passed_over_and_the_rest_is_read(name: str, read: object) -> None:
    assert callable(read)
    text, expected, excess = EXCESSIVE[name]
    header = CommandHeader()
    read(memoryview(b"xx" + text + b"yy"), 2, 2 + len(text), header)
    assert (header, header.excess) == (expected, excess)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_peers_would_read_differently_is_refused(name: str, read: object) -> None:
    assert callable(read)
    text = REFUSED[name]
    with pytest.raises(RemoteProtocolError, match="JSON header: "):
        read(memoryview(text), 0, len(text), CommandHeader())


def test_a_java_header_reads_and_writes_byte_for_byte() -> None:
    for text in (
        java_header(310, JAVA_FIELDS, opaque=2**31 - 1),
        java_header(0, {"k": "é订🚀"}, flag=1),
        java_header(34, None),
    ):
        assert encode_json_header(decoded(text)) == text


def test_go_and_cpp_and_node_say_the_same_as_java() -> None:
    fields = {"queueId": "3", "topic": "T"}
    assert decoded(go_header(11, fields)).ext_fields == fields
    assert decoded(cpp_header(11, {"queueId": 3, "topic": "T"})).ext_fields == fields
    assert decoded(node_header(11, {"queueId": 3, "topic": "T"})).ext_fields == fields
    assert decoded(node_header(11, {"m": True})).ext_fields == {"m": "true"}


def test_keys_are_written_in_java_order_and_absent_ones_not_at_all() -> None:
    full = CommandHeader(
        17, flag=1, opaque=5, version=513, remark="r", ext_fields={"z": "", "a": "1"}
    )
    assert encode_json_header(full) == (
        b'{"code":17,"extFields":{"z":"","a":"1"},"flag":1,"language":"JAVA","opaque":5,'
        b'"remark":"r","serializeTypeCurrentRPC":"JSON","version":513}'
    )
    assert encode_json_header(CommandHeader()) == (
        b'{"code":0,"flag":0,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON",'
        b'"version":0}'
    )


@pytest.mark.parametrize("text", ['"', "\\", "\x00\x01\x1f", "\n\r\t\b\f", "é订🚀", "\x7f/'", ""])
def test_text_is_escaped_so_that_any_reader_gets_it_back(text: str) -> None:
    written = encode_json_header(CommandHeader(remark=text, ext_fields={text: text}))
    assert json.loads(written)["extFields"] == {text: text}
    assert decoded(written) == CommandHeader(remark=text, ext_fields={text: text})
    assert all(byte >= 0x20 for byte in written)


def test_half_a_surrogate_pair_is_not_written() -> None:
    with pytest.raises(LocalProtocolError, match="surrogate"):
        encode_json_header(CommandHeader(remark="\ud800"))


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_numbers_beyond_32_bits_are_not_written(value: int) -> None:
    for header in (
        CommandHeader(value),
        CommandHeader(flag=value),
        CommandHeader(opaque=value),
        CommandHeader(version=value),
    ):
        with pytest.raises(LocalProtocolError, match="32 bits"):
            encode_json_header(header)


def test_fields_that_are_no_text_are_not_written() -> None:
    for fields in ({"queueId": 3}, {"a": None}, {5: "x"}):
        with pytest.raises(LocalProtocolError, match="nothing but text"):
            encode_json_header(CommandHeader(ext_fields=fields))  # type: ignore[arg-type]
