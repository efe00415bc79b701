"""Both readers: the compiled one, and the Python original."""

from typing import Any

import pytest

from aerobee.protocol.remoting import frame as frame_module
from aerobee.protocol.send import end_transaction_header
from tests.pure import pure
from tests.wire import binary_header, frame, java_header

FIELDS = {
    "producerGroup": "sellers",
    "bname": "broker-a",
    "commitLogOffset": "81505",
    "topic": "Orders",
    "msgId": "C00002021F384E0E2F2A49FAF0BA0001",
    "tranStateTableOffset": "7",
    "commitOrRollback": "8",
    "transactionId": "C00002021F384E0E2F2A49FAF0BA0001",
    "fromTransactionCheck": "false",
}
WORLDS = pytest.mark.parametrize(
    ("module", "framing"),
    [
        (end_transaction_header, frame_module),
        (
            pure("aerobee.protocol.send.end_transaction_header"),
            pure("aerobee.protocol.remoting.frame"),
        ),
    ],
    ids=["as built", "pure"],
)


def read(module: Any, framing: Any, data: bytes) -> tuple[object, ...] | None:
    """What is read of a frame: group, both offsets, outcome; None: it is left."""
    header = module.EndTransactionReader()
    frames = framing.FrameReader(framing.FrameLimits())
    frames.receive(data)
    assert frames.advance()
    if not header.read(frames):
        return None
    start = header.group_start
    group = bytes(frames.view[start : start + header.group_size])
    return group, header.queue_offset, header.log_offset, header.outcome


def json_frame(fields: dict[str, str], code: int = 37, flag: int = 2) -> bytes:
    return frame(java_header(code, fields, 7, flag))


@WORLDS
@pytest.mark.parametrize("outcome", [8, 12])
def test_an_end_is_read_in_either_form(module: Any, framing: Any, outcome: int) -> None:
    fields = {**FIELDS, "commitOrRollback": str(outcome)}
    expected = (b"sellers", 7, 81505, outcome)
    assert read(module, framing, json_frame(fields)) == expected
    assert read(module, framing, frame(binary_header(37, fields, flag=2), b"", 1)) == expected


@WORLDS
def test_a_body_and_the_order_of_the_fields_do_not_matter(module: Any, framing: Any) -> None:
    turned = dict(reversed(FIELDS.items()))
    data = frame(java_header(37, turned, 7, 2), b"a body")
    assert read(module, framing, data) == (b"sellers", 7, 81505, 8)


def without(name: str) -> dict[str, str]:
    return {key: text for key, text in FIELDS.items() if key != name}


UNUSUAL = [
    without("producerGroup"),
    without("commitLogOffset"),
    without("tranStateTableOffset"),
    without("commitOrRollback"),
    {**FIELDS, "commitOrRollback": "0"},
    {**FIELDS, "commitOrRollback": "9"},
    {**FIELDS, "commitLogOffset": "-1"},
    {**FIELDS, "commitLogOffset": ""},
    {**FIELDS, "commitLogOffset": "8x"},
    {**FIELDS, "tranStateTableOffset": "9223372036854775808"},
    {**FIELDS, "producerGroup": "süß"},
    {**FIELDS, "producerGroup": 'a"b'},
    {**FIELDS, "msgIe": "a name that is not known"},
    {**FIELDS, "namespace": "x"},
]


@WORLDS
@pytest.mark.parametrize("fields", UNUSUAL)
def test_what_is_unusual_is_left(module: Any, framing: Any, fields: dict[str, str]) -> None:
    assert read(module, framing, json_frame(fields)) is None
    assert read(module, framing, frame(binary_header(37, fields, flag=2), b"", 1)) is None


@WORLDS
@pytest.mark.parametrize(("code", "flag"), [(37, 0), (37, 1), (37, 3), (38, 2), (3, 2), (370, 2)])
def test_other_requests_and_those_that_wait_are_left(
    module: Any, framing: Any, code: int, flag: int
) -> None:
    assert read(module, framing, json_frame(FIELDS, code, flag)) is None
    data = frame(binary_header(code, FIELDS, flag=flag), b"", 1)
    assert read(module, framing, data) is None


@WORLDS
def test_a_field_that_comes_twice_is_left(module: Any, framing: Any) -> None:
    twice = [*FIELDS.items(), ("commitOrRollback", "12")]
    assert read(module, framing, frame(binary_header(37, twice, flag=2), b"", 1)) is None
    text = java_header(37, FIELDS, 7, 2).replace(b'"topic":', b'"commitOrRollback":"12","topic":')
    assert read(module, framing, frame(text)) is None
    text = java_header(37, FIELDS, 7, 2).replace(b'"language":', b'"flag":2,"language":')
    assert read(module, framing, frame(text)) is None


@WORLDS
def test_a_header_that_ends_early_or_late_is_left(module: Any, framing: Any) -> None:
    whole = java_header(37, FIELDS, 7, 2)
    for size in range(len(whole)):
        assert read(module, framing, frame(whole[:size])) is None
    assert read(module, framing, frame(whole + b"}")) is None
    whole = binary_header(37, FIELDS, flag=2)
    for size in range(len(whole)):
        assert read(module, framing, frame(whole[:size], b"", 1)) is None
    assert read(module, framing, frame(whole + b"\0", b"", 1)) is None


@WORLDS
def test_a_binary_header_with_a_remark_is_left(module: Any, framing: Any) -> None:
    data = frame(binary_header(37, FIELDS, flag=2, remark=b"x"), b"", 1)
    assert read(module, framing, data) is None
