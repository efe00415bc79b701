import base64

import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.message.recall_handle import (
    RecallHandle,
    decode_recall_handle,
    encode_recall_handle,
)

HANDLE = RecallHandle("orders", "broker-a", 1_700_000_001_000, "7F00")


def test_a_handle_comes_back_as_it_was() -> None:
    assert decode_recall_handle(encode_recall_handle(HANDLE)) == HANDLE


def test_the_alphabet_is_that_of_urls() -> None:
    odd = RecallHandle("orders", "b~~~???", 1, "7F00")
    assert not set("+/") & set(encode_recall_handle(odd))
    assert decode_recall_handle(encode_recall_handle(odd)) == odd


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v1 orders broker-a 1700000001000",
        "v1 orders broker-a 1700000001000 7F00 more",
        "v2 orders broker-a 1700000001000 7F00",
        "v1  orders broker-a 1700000001000 7F00",
        "v1 orders broker-a -1 7F00",
        "v1 orders broker-a 1e3 7F00",
        "v1 orders broker-a ١ 7F00",
    ],
)
def test_base64_of_anything_else_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="no recall handle"):
        decode_recall_handle(base64.urlsafe_b64encode(text.encode()).decode())


@pytest.mark.parametrize("handle", ["v1 orders", "djEg!", "djE", "_w==", "ü"])
def test_text_that_is_no_base64_of_utf8_is_refused(handle: str) -> None:
    with pytest.raises(RemoteProtocolError, match="no Base64"):
        decode_recall_handle(handle)


@pytest.mark.parametrize(
    "handle",
    [
        RecallHandle("two words", "b", 1, "u"),
        RecallHandle("", "b", 1, "u"),
        RecallHandle("t", "b", -1, "u"),
    ],
)
def test_parts_that_would_not_be_read_back_are_refused(handle: RecallHandle) -> None:
    with pytest.raises(LocalProtocolError):
        encode_recall_handle(handle)
