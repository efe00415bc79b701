"""CallsInPlace takes calls from their connection itself: sends of one plain message,
acknowledgements of one entry.

    connection ─▶ headers of a known shape ─▶ request, read in place ─▶ broker's fast path ─▶ answer

They come for every message, so no object is made for one: a request is a position in what the
connection has received, and the answers of one read are written into it together. Those of
acknowledgements wait until the turn is over (`acknowledged_calls`).

Laws. A call that is taken is answered as `send_calls` and `receipt_calls` would; all others are
left to them: of sends those that are not plain, of acknowledgements a receipt that has expired, was
renewed or is of an ordered pop. There is room in the peer's window for an answer before its call is
taken. Within one `take_all` nothing changes that a call is decided by.

Imports more than 15 modules because a call is read, checked and answered in one place.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, RpcConnectionId
from aerobee.protocol.consume.pop_receipt import ORDERLY
from aerobee.protocol.grpc.ack_message_reader import AckMessageReader
from aerobee.protocol.grpc.calls import SERVICE
from aerobee.protocol.grpc.framing import ANSWER_HEADERS, OK_TRAILERS
from aerobee.protocol.grpc.send_message_reader import SendMessageReader
from aerobee.protocol.http2.answer_frames import AnswerFrames
from aerobee.protocol.http2.connection import Http2Connection
from aerobee.protocol.http2.header_shape import HeaderShape
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.in_place.acknowledged_calls import AcknowledgedCalls, AcknowledgedRun
from aerobee.service.in_place.fast_desk import FastDesk
from aerobee.service.in_place.sound_names import sound_group, sound_topic, takes_normal
from aerobee.service.proxy.grpc_clients import GrpcClient, GrpcClients
from aerobee.service.proxy.renewals import Renewals

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_SEND, _ACK = SERVICE + "SendMessage", SERVICE + "AckMessage"
PATHS = frozenset({_SEND, _ACK})
_ANSWER_BYTES_MAX = 2_048
"""Of any answer that is written here, with its prefix."""
_PREFIX_BYTES = 5
_ORDERLY = ORDERLY


def is_compiled() -> bool:
    return cython.compiled


class ShapeOwner:
    """The client whose calls have a shape. After it was found in a turn, `client` is the one."""

    __slots__ = ("channel", "client", "client_id", "is_ack", "turn")

    def __init__(self, shape: HeaderShape) -> None:
        self.is_ack = shape.path == _ACK
        self.client_id = dict(shape.fields).get("x-mq-client-id", "")
        self.client: GrpcClient | None = None
        self.channel = ChannelId(0)
        self.turn = 0


class CallsInPlace:
    """C1. `_turn` numbers the calls of `take_all`. C2. Outside of it there are no `_calls`, and the
    outputs are empty. C3. `_run` is the run that was added to last, one of `_calls`."""

    __slots__ = (
        "_ack_output",
        "_acks",
        "_around",
        "_calls",
        "_clients",
        "_fast",
        "_find_topic",
        "_now",
        "_outbox",
        "_output",
        "_renewals",
        "_run",
        "_sends",
        "_topic",
        "_topic_turn",
        "_turn",
        "_wall_ms",
        "paths",
        "taken",
    )

    def __init__(
        self,
        fast: FastDesk,
        find_topic: Callable[[str], TopicConfig | None],
        clients: GrpcClients,
        renewals: Renewals,
        outbox: Effects,
    ) -> None:
        self._fast = fast
        self._find_topic = find_topic
        self.paths = PATHS
        self._clients = clients
        self._renewals = renewals
        self._outbox = outbox
        self._around = AnswerFrames(ANSWER_HEADERS, OK_TRAILERS)
        self._sends = SendMessageReader()
        self._acks = AckMessageReader()
        self._now = Now(0, 0)
        self._wall_ms = 0
        self._turn = 0
        # Answers of this read: of sends, and those that wait.
        self._output = ReplyBuffer()
        self._ack_output = ReplyBuffer()
        # The topic of the last send, which takes normal messages in this turn.
        self._topic = b""
        self._topic_turn = 0
        self._calls: AcknowledgedCalls | None = None
        self._run: AcknowledgedRun | None = None
        self.taken = 0
        """Calls that were taken, since the start."""

    def take_all(self, http2: Http2Connection, connection: RpcConnectionId, now: Now) -> None:
        """Take the calls that the connection finds (`ports.rpc.CallTaker`)."""
        if not http2.find_call():
            return
        fast = self._fast
        if not fast.is_open(now):
            return
        self._now = now
        self._wall_ms = now.wall_ms
        self._turn += 1
        try:
            while self._take(http2, connection, fast):
                http2.pass_call()
                self.taken += 1
                if not http2.find_call():
                    break
        finally:
            self._finish(http2, fast)

    def _take(self, http2: Http2Connection, connection: RpcConnectionId, fast: FastDesk) -> bool:
        if http2.answer_bytes_max() < _ANSWER_BYTES_MAX:
            return False
        shape = http2.call_shape
        assert shape is not None
        owner = self._owner_of(shape, connection)
        if owner is None:
            return False  # it is met first
        if owner.is_ack:
            return self._take_ack(http2, connection, owner, fast)
        return self._take_send(http2, owner, fast)

    def _owner_of(self, shape: HeaderShape, connection: RpcConnectionId) -> ShapeOwner | None:
        """The client of a shape, if it is known on this connection."""
        if shape.owner is None:
            shape.owner = ShapeOwner(shape)
        owner = cast(ShapeOwner, shape.owner)
        if owner.turn != self._turn:
            client = self._clients.find(owner.client_id)
            if client is None or connection not in client.connections:
                return None
            owner.client = client
            owner.channel = client.channel
            owner.turn = self._turn
        return owner

    # Sends.

    def _take_send(self, http2: Http2Connection, owner: ShapeOwner, fast: FastDesk) -> bool:
        reader = self._sends
        draft: MessageDraft = fast.draft
        if not reader.read_at(http2.input, http2.call_start, http2.call_stop, draft):
            return False
        if draft.topic is not self._topic or self._topic_turn != self._turn:
            if not self._takes_normal(draft.topic):
                return False
            self._topic = draft.topic
            self._topic_turn = self._turn
        queue_offset = fast.store(owner.channel, self._now)
        if queue_offset < 0:
            return False
        size = reader.write_answer(queue_offset)
        self._put(self._output, http2, reader.answer_memory, reader.answer_start, size)
        return True

    def _put(
        self, output: ReplyBuffer, http2: Http2Connection, memory: memoryview, start: int, size: int
    ) -> None:
        """Gather the answer of the call that was found."""
        output.make_room(size + self._around.bytes_around)
        output.position = self._around.write(
            output.memory, output.position, http2.call_stream, memory, start, size
        )
        http2.reserve(size + _PREFIX_BYTES)

    def _takes_normal(self, topic: bytes) -> bool:
        name = sound_topic(topic)
        config = None if name is None else self._find_topic(name)
        return config is not None and takes_normal(config)

    # Acknowledgements.

    def _take_ack(
        self,
        http2: Http2Connection,
        connection: RpcConnectionId,
        owner: ShapeOwner,
        fast: FastDesk,
    ) -> bool:
        reader = self._acks
        if not reader.read_at(http2.input, http2.call_start, http2.call_stop):
            return False
        calls = self._calls
        if calls is None:
            calls = AcknowledgedCalls(http2, connection, self._outbox, self._renewals)
            self._calls = calls
        run = self._run
        if run is None or not self._belongs(run, owner):
            run = self._run_of(calls, owner, fast)
            if run is None:
                return False
        offset = reader.queue_offset
        if offset < run.offset_min or offset > run.offset_max:
            return False
        if run.may_be_renewed and not self._take_renewal(run, offset):
            return False
        size = reader.write_answer()
        self._put(self._ack_output, http2, reader.answer_memory, reader.answer_start, size)
        size += _PREFIX_BYTES
        calls.count += 1
        http2.hold(1)
        calls.data_bytes += size
        if size > calls.answer_bytes_max:
            calls.answer_bytes_max = size
        run.offsets.append(offset)
        run.starts.append(http2.call_start)
        return True

    def _belongs(self, run: AcknowledgedRun, owner: ShapeOwner) -> bool:
        """Whether the acknowledgement that was read last is one of this run."""
        reader = self._acks
        return (
            run.pop_time == reader.pop_time
            and run.start_offset == reader.start_offset
            and run.queue_id == reader.queue_id
            and run.revive_queue == reader.revive_queue
            and run.invisible_ms == reader.invisible_ms
            and run.topic is reader.topic
            and run.group is reader.group
            and run.broker_name is reader.broker_name
            and run.client is owner.client
        )

    def _run_of(
        self, calls: AcknowledgedCalls, owner: ShapeOwner, fast: FastDesk
    ) -> AcknowledgedRun | None:
        """The run of the acknowledgement that was read last; None: it is not to be taken."""
        reader = self._acks
        if reader.revive_queue == _ORDERLY:
            return None
        if reader.pop_time + reader.invisible_ms <= self._wall_ms:
            return None
        names = (owner.client_id, reader.group, reader.topic, reader.broker_name)
        receipt = (reader.start_offset, reader.pop_time, reader.invisible_ms, reader.revive_queue)
        key = (names, receipt, reader.queue_id)
        run = calls.runs.get(key)
        if run is None:
            run = self._make_run(calls, owner, fast)
            if run is None:
                return None
            calls.runs[key] = run
        self._run = run
        return run

    def _make_run(
        self, calls: AcknowledgedCalls, owner: ShapeOwner, fast: FastDesk
    ) -> AcknowledgedRun | None:
        reader = self._acks
        group, topic = sound_group(reader.group), sound_topic(reader.topic)
        if group is None or topic is None:
            return None
        client = owner.client
        assert client is not None
        bounds = fast.ack_bounds(topic, reader.queue_id, reader.revive_queue)
        if bounds is None:
            return None
        run = AcknowledgedRun(calls, client, group, topic, bounds)
        run.group = reader.group
        run.topic = reader.topic
        run.broker_name = reader.broker_name
        run.queue_id = reader.queue_id
        run.start_offset = reader.start_offset
        run.pop_time = reader.pop_time
        run.invisible_ms = reader.invisible_ms
        run.revive_queue = reader.revive_queue
        run.may_be_renewed = len(self._renewals) > 0
        return run

    def _take_renewal(self, run: AcknowledgedRun, offset: int) -> bool:
        """Renew the message no more. False: the client's receipt is not the newest, or soon will
        not be."""
        key = (run.client.id, run.group_name, self._acks.message_id(), run.queue_id, offset)
        renewal = self._renewals.find(key)
        if renewal is not None:
            if renewal.times or renewal.is_asking:
                return False
            self._renewals.take(key)
            run.renewals.append(renewal)
        return True

    def _finish(self, http2: Http2Connection, fast: FastDesk) -> None:
        """Write the answers of sends, and have the acknowledgements written."""
        if self._output.position:
            http2.write_answers(self._output.take())
        calls = self._calls
        if calls is None:
            return
        self._calls = self._run = None
        calls.answers = self._ack_output.take()
        runs = [run for run in calls.runs.values() if run.offsets]
        calls.left = len(runs)
        for each in runs:
            run: AcknowledgedRun = each
            broker = run.broker_name.decode()
            names = (run.topic_name, run.group_name, run.queue_id)
            key = (*names, run.start_offset, run.pop_time, broker)
            revive_time = run.pop_time + run.invisible_ms
            fast.acknowledge(key, run.revive_queue, revive_time, run.offsets, run.told)
