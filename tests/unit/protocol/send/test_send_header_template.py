"""The template is C inside; what it promises is seen through `SendHeader` (test_send_header).

Here: that it is used at all, which no value can show.
"""

import timeit

import pytest

from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.send.send_header import SendHeader
from aerobee.protocol.send.send_header_template import is_compiled
from tests.wire import JAVA_FIELDS, frame, java_header


def scan_ns(headers: list[bytes]) -> float:
    """The time of one scan, going round the headers; the least of many."""
    readers = []
    for header in headers:
        reader = FrameReader()
        reader.receive(frame(header, b"body"))
        assert reader.advance()
        readers.append(reader)
    send, draft = SendHeader(), MessageDraft()

    def round_trip() -> None:
        for reader in readers:
            send.scan(reader, draft)

    return min(timeit.repeat(round_trip, number=500, repeat=20)) / len(headers)


@pytest.mark.skipif(not is_compiled(), reason="speed is the matter of the compiled module")
def test_a_header_like_the_last_costs_less_than_one_unlike_it() -> None:
    like = [java_header(310, JAVA_FIELDS | {"e": str(n)}, opaque=n) for n in range(2)]
    unlike = [java_header(310, JAVA_FIELDS | {"f": str(n)}, opaque=n) for n in range(2)]
    assert scan_ns(like) < 0.8 * scan_ns(unlike)
