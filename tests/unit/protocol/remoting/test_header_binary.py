import struct

import pytest

from aerobee.errors import LocalProtocolError, Misuse, RemoteProtocolError
from aerobee.protocol.remoting.command_header import LANGUAGES, CommandHeader
from aerobee.protocol.remoting.header_binary import decode_binary_header, encode_binary_header
from tests.wire import binary_header


def decoded(data: bytes) -> CommandHeader:
    header = CommandHeader(99, remark="old", ext_fields={"old": "old"})
    header.excess = "old"
    decode_binary_header(memoryview(b"xx" + data + b"yy"), 2, 2 + len(data), header)
    return header


def failure(data: bytes) -> str:
    with pytest.raises(RemoteProtocolError) as caught:
        decoded(data)
    return str(caught.value)


def test_the_route_request_of_the_specification_reads_and_writes_as_printed() -> None:
    data = bytes.fromhex(
        "0069 00 01df 00000001 00000000 00000000 00000014"
        "0005 746f706963 00000009 546f70696354657374"
    )
    header = decoded(data)
    assert header == CommandHeader(105, version=479, opaque=1, ext_fields={"topic": "TopicTest"})
    assert header.serialize_type == 1
    assert encode_binary_header(header) == data


def test_every_part_comes_back() -> None:
    header = CommandHeader(
        -7,
        flag=3,
        opaque=-(2**31),
        version=513,
        language="GO",
        remark="wéll",
        ext_fields={"a": "", "": "b", "键": "值\x00"},
    )
    assert decoded(encode_binary_header(header)) == header


@pytest.mark.parametrize("number", range(len(LANGUAGES)))
def test_languages_go_by_their_numbers(number: int) -> None:
    header = decoded(binary_header(1, {}, language=number))
    assert header.language == LANGUAGES[number]
    assert encode_binary_header(header)[2] == number


def test_languages_without_a_number_are_other() -> None:
    assert decoded(binary_header(1, {}, language=14)).language == "OTHER"
    assert decoded(binary_header(1, {}, language=-1)).language == "OTHER"
    assert encode_binary_header(CommandHeader(language="COBOL"))[2] == LANGUAGES.index("OTHER")


@pytest.mark.parametrize("code", [200050, 32768, -32769])
def test_codes_that_do_not_fit_are_not_written(code: int) -> None:
    with pytest.raises(LocalProtocolError, match=f"{code} does not fit the 16 bits"):
        encode_binary_header(CommandHeader(code))


def test_text_that_is_none_is_not_written() -> None:
    with pytest.raises(LocalProtocolError, match="surrogate"):
        encode_binary_header(CommandHeader(remark="\udc00"))
    with pytest.raises(LocalProtocolError, match="text"):
        encode_binary_header(CommandHeader(ext_fields={"a": 1}))  # type: ignore[dict-item]


def test_no_prefix_of_a_header_is_a_header() -> None:
    data = binary_header(10, {"topic": "T", "queueId": "1"}, remark=b"why")
    for end in range(len(data)):
        failure(data[:end])
    assert "ext fields of 26 bytes where 27 are left" in failure(data + b"\0")


@pytest.mark.parametrize("size", [-1, 1, 2**31 - 1, -(2**31)])
def test_a_remark_size_beyond_the_header_is_refused(size: int) -> None:
    data = bytearray(binary_header(10, {}))
    struct.pack_into(">i", data, 13, size)
    assert f"a remark of {size} bytes where 0 are left" in failure(bytes(data))


@pytest.mark.parametrize("change", [-1, 1, -(2**30), 2**30])
def test_an_ext_size_that_is_not_what_is_left_is_refused(change: int) -> None:
    data = bytearray(binary_header(10, {"a": "b"}))
    struct.pack_into(">i", data, 17, 8 + change)
    assert f"ext fields of {8 + change} bytes where 8 are left" in failure(bytes(data))


@pytest.mark.parametrize("size", [-1, 129, 32767, 3])
def test_a_key_size_beyond_what_is_left_is_refused(size: int) -> None:
    data = bytearray(binary_header(10, {"a": "b"}))
    struct.pack_into(">h", data, 21, size)
    assert f"a key of {size} bytes" in failure(bytes(data))


@pytest.mark.parametrize("size", [-1, 2, 2**31 - 1])
def test_a_value_size_beyond_what_is_left_is_refused(size: int) -> None:
    data = bytearray(binary_header(10, {"a": "b"}))
    struct.pack_into(">i", data, 24, size)
    assert f"a value of {size} bytes where 1 are left" in failure(bytes(data))


def test_the_limits_are_those_of_the_other_form() -> None:
    fits = {"k" * 128: "", "v": "x" * 32768} | {f"k{n}": "" for n in range(126)}
    header = decoded(binary_header(1, fits))
    assert (header.ext_fields, header.excess) == (fits, "")
    header = decoded(binary_header(1, fits | {"one more": ""}, opaque=9))
    assert (header.ext_fields, header.opaque) == (fits, 9)
    assert header.excess == "more than 128 fields"


@pytest.mark.parametrize("size", [32769, 1 << 20])
def test_what_is_too_long_is_cut_and_the_rest_is_read(size: int) -> None:
    header = decoded(binary_header(10, {"v": "x" * size, "w": "1"}, opaque=9))
    assert header == CommandHeader(
        10, opaque=9, version=513, ext_fields={"v": "x" * 32769, "w": "1"}
    )
    assert header.excess == "a name or value of more than 32768 bytes"
    header = decoded(binary_header(10, [("k" * 999 + "a", "1"), ("k" * 999 + "b", "2")]))
    assert (header.code, header.excess) == (10, "a name or value of more than 128 bytes")
    header = decoded(binary_header(10, {"v": "é" * size}))
    assert header.ext_fields == {"v": "é" * 16384 + "\ufffd"}


def test_the_first_excess_is_told_and_none_of_the_header_before() -> None:
    long_value = {"v": "x" * 32769} | {f"k{n}": "" for n in range(128)}
    header = decoded(binary_header(10, long_value))
    assert header.excess == "a name or value of more than 32768 bytes"
    decode_binary_header(memoryview(binary_header(10, {})), 0, 21, header)
    assert header.excess == ""


def test_a_remark_is_cut_and_nothing_is_said_of_it() -> None:
    header = decoded(binary_header(1, {"a": "b"}, remark=b"x" * 40_000))
    assert (header.remark, header.excess) == ("x" * 32768, "")
    assert header.ext_fields == {"a": "b"}


def test_a_key_that_comes_twice_is_refused() -> None:
    assert "'a' comes twice" in failure(binary_header(1, [("a", "1"), ("b", ""), ("a", "1")]))


@pytest.mark.parametrize("bad", [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80"])
def test_text_that_is_not_utf8_is_refused(bad: bytes) -> None:
    good = binary_header(1, {"key": "val"}, remark=b"rem")
    for part in (b"rem", b"key", b"val"):
        data = good.replace(part, bad.ljust(3, b"x"))
        assert "not UTF-8" in failure(data)


@pytest.mark.parametrize(("start", "end"), [(-1, 21), (0, 23), (2, 1)])
def test_bounds_outside_the_bytes_are_misuse(start: int, end: int) -> None:
    with pytest.raises(Misuse):
        decode_binary_header(memoryview(bytes(22)), start, end, CommandHeader())
