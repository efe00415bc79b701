"""AcknowledgedCalls are the acknowledgements of one read that were taken in place, until they are
answered.

    AckMessage calls of one read ─▶ runs, one for each pop ─▶ records of the log ─▶ answers

Their answers are written when the calls are taken, and go out as they are when the broker has said
of every run that it is safe. If it refuses one, or the peer has made its windows smaller meanwhile,
each call is answered by itself, as `receipt_calls` would.
"""

from typing import TYPE_CHECKING

from aerobee.errors import ProtocolError
from aerobee.ports.rpc import FlushCalls, RpcConnectionId
from aerobee.ports.service import Effects
from aerobee.protocol.grpc.calls import (
    AckMessageRequest,
    AckMessageResponse,
    AckMessageResultEntry,
)
from aerobee.protocol.grpc.framing import ANSWER_HEADERS, OK_TRAILERS, frame_message
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.http2.connection import Http2Connection
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.grpc_clients import GrpcClient
from aerobee.service.proxy.outcomes import status_of
from aerobee.service.proxy.renewals import Renewal, Renewals
from aerobee.service.request import Answer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_FRAME_BYTES = 14
"""Before a message: the header of its frame, and its own prefix."""


def is_compiled() -> bool:
    return cython.compiled


class AcknowledgedRun:
    """Acknowledgements of one pop of a client. `starts` are the positions of their messages."""

    __slots__ = (
        "_answer",
        "_calls",
        "broker_name",
        "client",
        "group",
        "group_name",
        "invisible_ms",
        "may_be_renewed",
        "offset_max",
        "offset_min",
        "offsets",
        "pop_time",
        "queue_id",
        "renewals",
        "revive_queue",
        "start_offset",
        "starts",
        "topic",
        "topic_name",
    )

    def __init__(
        self,
        calls: "AcknowledgedCalls",
        client: GrpcClient,
        group_name: str,
        topic_name: str,
        bounds: tuple[int, int],
    ) -> None:
        """`bounds`: of the offsets that may be acknowledged. Whoever makes it sets the numbers of
        its receipt, and the names as they came."""
        self._calls = calls
        self._answer: Answer | None = None
        self.client = client
        self.group_name = group_name
        self.topic_name = topic_name
        self.offset_min, self.offset_max = bounds
        self.may_be_renewed = False
        self.group = self.topic = self.broker_name = b""
        self.queue_id = self.revive_queue = 0
        self.start_offset = self.pop_time = self.invisible_ms = 0
        self.offsets: list[int] = []
        self.starts: list[int] = []
        self.renewals: list[Renewal] = []

    def told(self, answer: Answer) -> None:
        """The broker has answered the run."""
        self._answer = answer
        self._calls.told()

    def answer(self) -> Answer:
        assert self._answer is not None
        return self._answer


class AcknowledgedCalls:
    """A1. `left` runs are not answered. A2. `data_bytes` are reserved in the peer's window."""

    __slots__ = (
        "_connection",
        "_data",
        "_http2",
        "_outbox",
        "_renewals",
        "answer_bytes_max",
        "answers",
        "count",
        "data_bytes",
        "left",
        "runs",
    )

    def __init__(
        self,
        http2: Http2Connection,
        connection: RpcConnectionId,
        outbox: Effects,
        renewals: Renewals,
    ) -> None:
        self._http2 = http2
        self._connection = connection
        self._data = http2.input
        self._outbox = outbox
        self._renewals = renewals
        self.runs: dict[tuple[object, ...], AcknowledgedRun] = {}
        self.answers = b""
        self.count = 0
        self.data_bytes = 0
        self.answer_bytes_max = 0
        self.left = 0

    def told(self) -> None:
        self.left -= 1
        if self.left:
            return
        http2 = self._http2
        is_good = all(
            run.answer().code is ResponseCode.SUCCESS for run in self.runs.values() if run.offsets
        )
        if is_good and http2.has_stream_room(self.answer_bytes_max):
            http2.hold(-self.count)
            http2.write_answers(self.answers)
            self._outbox.append(FlushCalls(self._connection))
        else:
            self._answer_each()

    def _answer_each(self) -> None:
        http2, is_broken = self._http2, False
        http2.reserve(-self.data_bytes)
        for run in self.runs.values():
            if not run.offsets:
                continue
            answer = run.answer()
            if answer.code is not ResponseCode.SUCCESS and not run.client.is_gone:
                for renewal in run.renewals:
                    self._renewals.add(renewal)
            for start in run.starts:
                http2.hold(-1)
                try:
                    self._answer_one(start, answer)
                except ProtocolError:
                    is_broken = True
        self._outbox.append(FlushCalls(self._connection, is_broken))

    def _answer_one(self, start: int, answer: Answer) -> None:
        http2, data = self._http2, self._data
        head = start - _FRAME_BYTES
        size = int.from_bytes(data[start - 4 : start], "big")
        stream = int.from_bytes(data[head + 5 : head + 9], "big")
        request, status = decode(AckMessageRequest, data[start : start + size]), status_of(answer)
        entries = [
            AckMessageResultEntry(one.message_id, one.receipt_handle, status)
            for one in request.entries
        ]
        http2.open_held(stream)
        http2.write_headers(stream, ANSWER_HEADERS)
        http2.write_data(stream, frame_message(encode(AckMessageResponse(status, entries))))
        http2.write_trailers(stream, OK_TRAILERS)
