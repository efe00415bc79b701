import pytest

from aerobee.errors import Misuse, RemoteProtocolError
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.remoting.json_scan import is_bounded, reset_header, scan_json_header
from tests.header_cases import ACCEPTED, EXCESSIVE, REFUSED


def scanned(text: bytes) -> CommandHeader:
    header = CommandHeader(99, remark="old", ext_fields={"old": "old"}, serialize_type=1)
    header.excess = "old"
    scan_json_header(memoryview(text), 0, len(text), header)
    return header


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_real_clients_may_send_is_accepted(name: str) -> None:
    text, expected = ACCEPTED[name]
    header = scanned(text)
    assert (header, header.excess) == (expected, "")


@pytest.mark.parametrize("name", EXCESSIVE)
def test_what_is_too_large_is_passed_over_and_the_rest_is_read(name: str) -> None:
    text, expected, excess = EXCESSIVE[name]
    header = scanned(text)
    assert (header, header.excess) == (expected, excess)


@pytest.mark.parametrize("name", EXCESSIVE)
def test_no_prefix_of_what_is_too_large_is_a_header(name: str) -> None:
    text = EXCESSIVE[name][0]
    for end in (0, 1, len(text) // 2, len(text) - 12, len(text) - 2, len(text) - 1):
        with pytest.raises(RemoteProtocolError):
            scanned(text[:end])


@pytest.mark.parametrize("name", REFUSED)
def test_what_peers_would_read_differently_is_refused(name: str) -> None:
    with pytest.raises(RemoteProtocolError, match="JSON header: "):
        scanned(REFUSED[name])


def test_a_scan_stays_within_its_bounds() -> None:
    text = b'garbage{"code":5}garbage'
    header = CommandHeader()
    scan_json_header(memoryview(text), 7, 17, header)
    assert header.code == 5
    for start, end in ((7, 16), (8, 17), (7, 18)):
        with pytest.raises(RemoteProtocolError):
            scan_json_header(memoryview(text), start, end, CommandHeader())


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, 3), (2, 1)])
def test_bounds_outside_the_bytes_are_misuse(start: int, end: int) -> None:
    with pytest.raises(Misuse):
        scan_json_header(memoryview(b"{}"), start, end, CommandHeader())


def test_an_error_says_what_and_where() -> None:
    with pytest.raises(RemoteProtocolError, match="the key 'code' comes twice, at byte 16"):
        scanned(b'{"code":1,"code":2}')


@pytest.mark.parametrize("name", ACCEPTED)
def test_no_prefix_of_a_header_is_a_header(name: str) -> None:
    text = ACCEPTED[name][0].rstrip()
    for end in range(len(text)) if len(text) < 1000 else (0, 1, 500, len(text) - 1):
        with pytest.raises(RemoteProtocolError):
            scanned(text[:end])


def test_a_header_that_was_used_is_reset() -> None:
    header = CommandHeader(1, flag=2, opaque=3, version=4, language="GO", remark="r")
    header.excess = "more than may be"
    reset_header(header)
    assert (header, header.excess) == (CommandHeader(), "")


@pytest.mark.parametrize(
    ("number", "is_integer", "expected"),
    [
        ("9223372036854775807", True, True),
        ("9223372036854775808", True, False),
        ("-9223372036854775808", True, True),
        ("-9223372036854775809", True, False),
        ("1e308", False, True),
        ("1e309", False, False),
        ("-1e309", False, False),
        ("1e-999", False, True),
    ],
)
def test_numbers_beyond_64_bits_are_told_apart(
    number: str, is_integer: bool, expected: bool
) -> None:
    assert is_bounded(number, is_integer) is expected
