"""The scan has no Python face when it is compiled: it is tried by the reader of sends."""

import pytest

from aerobee.protocol.grpc.send_message_reader import SendMessageReader
from aerobee.protocol.message.message_draft import MessageDraft
from tests.grpc_requests import PLAIN, send_request


def is_read(request: bytes) -> bool:
    return SendMessageReader().read(request, MessageDraft())


def test_a_plain_request_is_read_and_none_of_its_beginnings_is() -> None:
    request = send_request()
    assert is_read(request)
    for end in range(len(request)):
        assert not is_read(request[:end])


@pytest.mark.parametrize(
    "more",
    [
        b"\x29" + bytes(8),  # a fixed-size field
        b"\x7b",  # a group
        b"\x00\x00",  # number 0
        b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # a size above 63 bits
        b"\x12\x05ab",  # a size beyond the message
        b"\x80",  # a number that does not end
    ],
)
def test_forms_that_clients_do_not_write_are_left_to_the_general_reader(more: bytes) -> None:
    assert not is_read(send_request(PLAIN + more))
