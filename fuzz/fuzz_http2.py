"""Any bytes in any chunks lead to the same streams, the same output and the same error.

The first byte chooses the chunks, and whether the peer has greeted. Every request that comes whole
is answered, so that windows, waiting data and ends of streams are reached. A call that is found by
its headers is the call that events would have told of.
"""

from itertools import pairwise

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.grpc.framing import frame_message
from aerobee.protocol.http2.connection import PREFACE, Http2Connection, Http2Event, Opened, Received
from aerobee.protocol.http2.header_shape import VARYING, HeaderField
from aerobee.protocol.http2.limits import Http2Limits

LIMITS = Http2Limits(
    streams_max=4,
    fields_bytes_max=900,
    block_bytes_max=1024,
    stream_window=64,
    connection_window=66_000,
    unsent_bytes_max=1000,
    idle_frames_a_second=20,
    resets_a_second=10,
)
PATHS = frozenset({"/s/M"})


def check(data: bytes) -> None:
    """Any bytes in any chunks lead to the same streams, the same output and the same error."""
    if not data:
        return
    stream = (PREFACE if data[0] & 1 else b"") + data[1:]
    chunks = [stream[at : at + 1 + data[0]] for at in range(0, len(stream), 1 + data[0])]
    whole, cut = _Outcome([stream]), _Outcome(chunks)
    _check_calls(chunks, cut)
    _check_calls([stream], whole)
    assert whole.error == cut.error
    assert whole.output == cut.output
    if not whole.error:  # with an error, what the same chunk held before it is lost
        assert whole.events == cut.events
        assert whole.answers == cut.answers
        assert whole.connection.unsent == cut.connection.unsent
        assert len(whole.connection) == len(cut.connection) <= LIMITS.streams_max


def _check_calls(chunks: list[bytes], told: "_Outcome") -> None:
    """Calls that are found on the way are what the same bytes tell as events."""
    connection = Http2Connection(LIMITS, PATHS)
    events: list[Http2Event] = []
    found: dict[int, tuple[bytes, list[HeaderField]]] = {}
    error = ""
    try:
        for chunk in chunks:
            connection.feed(chunk, 0)
            while True:
                if connection.find_call():
                    message = connection.input[connection.call_start : connection.call_stop]
                    shape = connection.call_shape
                    assert shape is not None
                    found[connection.call_stream] = message, shape.fields
                events += connection.read()
                if not connection.is_at_call:
                    break
    except RemoteProtocolError as fault:
        error = str(fault)
    assert error == told.error
    assert connection.take_output() == told.output
    if not error:
        assert events == told.events
    for opened, received in pairwise(events):
        if isinstance(opened, Opened) and opened.stream in found:
            message, fields = found.pop(opened.stream)
            assert not opened.is_ended
            assert received == Received(opened.stream, frame_message(message), True)
            assert _fixed(opened.headers) == _fixed(fields)
    assert error or not found


def _fixed(fields: list[HeaderField]) -> list[HeaderField]:
    return [(name, "" if name in VARYING else value) for name, value in fields]


class _Outcome:
    def __init__(self, chunks: list[bytes]) -> None:
        self.connection = Http2Connection(LIMITS)
        self.events: list[Http2Event] = []
        self.error = ""
        try:
            for chunk in chunks:
                self.events += self.connection.receive(chunk, 0)
        except RemoteProtocolError as error:
            self.error = str(error)
        self.output = self.connection.take_output()
        if self.error:
            return
        for event in self.events:
            if isinstance(event, Opened | Received) and event.is_ended:
                self.connection.write_headers(event.stream, b"h")
                self.connection.write_data(event.stream, b"d" * 90)
                self.connection.write_trailers(event.stream, b"t")
        self.answers = self.connection.take_output()
