import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.model.message_id import (
    OffsetMessageId,
    UniqueId,
    address_text,
    pack_address,
    parse_offset_message_id,
    parse_unique_id,
)
from aerobee.model.message_queue import LogOffset


def test_an_offset_id_on_ipv6_has_56_digits() -> None:
    message_id = OffsetMessageId("2001:db8::1", 10911, LogOffset(4096))
    text = "20010DB8000000000000000000000001" + "00002A9F" + "0000000000001000"
    assert str(message_id) == text
    assert parse_offset_message_id(text) == message_id


def test_a_unique_id_that_a_java_client_made_is_taken_apart() -> None:
    # Seen in a store of Apache 5.5.0: from 192.0.2.2, pid 0x494D, message 0 of its process.
    text = "C0000202494D4E0E2F2A4A18AA5F0000"
    found = parse_unique_id(text)
    assert found == UniqueId("192.0.2.2", 0x494D, 0x4E0E2F2A, 0x4A18AA5F, 0)
    assert str(found) == text


def test_a_unique_id_on_ipv6_has_56_digits() -> None:
    text = str(UniqueId("2001:db8::2", 1, 2, 3, 4))
    assert text == "20010DB8000000000000000000000002" + "0001" + "00000002" + "00000003" + "0004"
    assert parse_unique_id(text) == UniqueId("2001:db8::2", 1, 2, 3, 4)


def test_parts_of_a_unique_id_that_are_too_large_wrap_as_in_java() -> None:
    wrapped = UniqueId("10.0.0.1", 0x2C350, -1, 2**32 + 5, 65_537)
    assert parse_unique_id(str(wrapped)) == UniqueId("10.0.0.1", 0xC350, 0xFFFFFFFF, 5, 1)


def test_lower_case_is_read_and_upper_case_is_written() -> None:
    text = "c0a8010a00002a9f0000000000001000"
    assert str(parse_offset_message_id(text)) == text.upper()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "C0A8010A00002A9F000000000000100",
        "C0A8010A00002A9F00000000000010000",
        "C0A8010A00002A9F000000000000100G",
        " C0A8010A00002A9F000000000000100",
        "C0 A8010A00002A9F0000000000001000",
        "C0A8010A00002A9F00000000000010\n00",
        "C0A8010A00002A9F0000000000001000\n",
        "0x" + "0" * 30,
        "\uff10" * 32,
        "0" * 40,
    ],
)
def test_text_that_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="no message id"):
        parse_offset_message_id(text)
    with pytest.raises(RemoteProtocolError, match="no message id"):
        parse_unique_id(text)


def test_parts_that_no_offset_id_has_room_for_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="no id has room"):
        str(OffsetMessageId("10.0.0.1", 2**31, LogOffset(0)))
    with pytest.raises(LocalProtocolError, match="no IP address"):
        str(OffsetMessageId("broker-a", 10911, LogOffset(0)))


def test_addresses_survive_packing_in_both_families() -> None:
    for text in ("0.0.0.0", "255.255.255.255", "::", "::1", "fe80::1"):
        assert address_text(pack_address(text)) == text
    assert pack_address("::ffff:10.0.0.1")[-6:] == b"\xff\xff\x0a\x00\x00\x01"
    assert pack_address("fe80::1%eth0") == pack_address("fe80::1")
