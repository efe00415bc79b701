"""The fast path of acknowledgements: matches headers with a template, gathers those of one read.

    first time   the general handler checks everything, and the header is kept as a template
    afterwards   a header that differs from the template in its numbers only matches; its numbers
                 are checked, its signature where that is asked for, and it is added to the run of
                 its checkpoint

A run is only gathered here: `fast_ack_writer` takes the runs, writes each to the log, and then
calls `answer`. Every other acknowledgement (an ordered pop, a queue that does not exist, a
malformed receipt) takes the general path. Law: an acknowledgement that is taken here is written and
answered as the general handler would.

Imports more than 15 modules because a fast path reads, decides and answers in one place.
"""

import re
from typing import TYPE_CHECKING

from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.revive_records import CheckpointKey
from aerobee.protocol.consume.pop_receipt import PopReceipt
from aerobee.protocol.consume.pull_answer import matches
from aerobee.protocol.consume.success_answer import SuccessAnswer
from aerobee.protocol.headers.popping import AckHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.number_template import NumberTemplate, template_of
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.broker.fast_path import ALL, GRANTS_MAX, NONE, SOME
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Request
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_HEADER_BYTES_MAX = 4096
_INT32_MAX = 0x7FFFFFFF
_INT64_MAX = 0x7FFFFFFFFFFFFFFF

_BEGINNING = b'{"code":200051,'
_QUEUE, _OFFSET, _OPAQUE = (
    re.compile(rb'"%s":"?(-?[0-9]+)' % name) for name in (b"queueId", b"offset", b"opaque")
)
# Start, pop time, time hidden, revive queue, origin, broker, queue, offset.
_RECEIPT = rb'"extraInfo":"([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) [^ "\\]* [^ "\\]* ([0-9]+) ([0-9]+)'
_PATTERNS = (_QUEUE, _OFFSET, re.compile(_RECEIPT + b'"'), _OPAQUE)
# RocketMQ's proxy appends the message's log offset to its receipts.
_PROXY_PATTERNS = (
    _QUEUE,
    _OFFSET,
    re.compile(_RECEIPT + rb' [0-9]+"'),
    _OPAQUE,
    re.compile(rb'"extraInfo":"[^"\\]* ([0-9]+)"'),
)


def is_compiled() -> bool:
    return cython.compiled


class AckGrant:
    """The decision of the general handler for acknowledgements whose headers match one template.

    The attributes `…_place` are the indexes of numbers in the template; `checked_at` is the last
    value of `FastAck._checks` at which the grant was valid.
    """

    __slots__ = (
        "basis",
        "broker_name",
        "checked_at",
        "epoch",
        "group",
        "hidden_place",
        "offset_place",
        "opaque_place",
        "place_offset_place",
        "place_queue_place",
        "pop_time_place",
        "queue_place",
        "queues",
        "revive_place",
        "start_place",
        "template",
        "topic",
        "topic_bytes",
    )

    def __init__(
        self,
        template: NumberTemplate,
        places: list[int],
        header: AckHeader,
        receipt: PopReceipt,
        queues: int,
        basis: object,
    ) -> None:
        """`queues`: the number of the topic's queues; `basis`: the topic's configuration."""
        self.template = template
        self.queue_place = places[0]
        self.offset_place = places[1]
        self.start_place = places[2]
        self.pop_time_place = places[3]
        self.hidden_place = places[4]
        self.revive_place = places[5]
        self.place_queue_place = places[6]
        self.place_offset_place = places[7]
        self.opaque_place = places[8]
        self.topic = header.topic
        self.topic_bytes = header.topic.encode()
        self.group = header.consumer_group
        self.broker_name = receipt.broker_name
        self.queues = queues
        self.basis = basis
        self.checked_at = -1
        self.epoch = 0


class AckRun:
    """Acknowledgements of one checkpoint: the messages' offsets, and the requests to be
    answered."""

    __slots__ = (
        "grant",
        "hidden_ms",
        "offsets",
        "opaques",
        "pop_time",
        "queue_id",
        "revive_queue",
        "start_offset",
    )

    def __init__(
        self,
        grant: AckGrant,
        queue_id: int,
        start_offset: int,
        pop_time: int,
        hidden_ms: int,
        revive_queue: int,
    ) -> None:
        self.grant = grant
        self.queue_id = queue_id
        self.start_offset = start_offset
        self.pop_time = pop_time
        self.hidden_ms = hidden_ms
        self.revive_queue = revive_queue
        self.offsets: list[int] = []
        self.opaques: list[int] = []

    def key(self) -> CheckpointKey:
        grant = self.grant
        return (
            grant.topic,
            grant.group,
            self.queue_id,
            self.start_offset,
            self.pop_time,
            grant.broker_name,
        )

    def revive_time(self) -> int:
        return self.pop_time + self.hidden_ms


class FastAck:
    """Gathers acknowledgements into runs. P1. Between two calls of `recheck` nothing changes that a
    grant was decided by. P2. `_last` is the run that was added to last; it is in `_runs`, too."""

    __slots__ = (
        "_answer",
        "_candidate",
        "_candidate_epoch",
        "_checks",
        "_gate",
        "_grants",
        "_last",
        "_queues",
        "_revive_queues",
        "_runs",
        "_topics",
    )

    def __init__(self, queues: ConsumeQueues, topics: Topics, revive_queues: int) -> None:
        self._queues = queues
        self._topics = topics
        self._revive_queues = revive_queues
        self._answer = SuccessAnswer()
        self._grants: dict[ChannelId, list[AckGrant]] = {}
        # The header of an acknowledgement that takes the general path now.
        self._candidate: tuple[ChannelId, bytes] | None = None
        self._candidate_epoch = 0
        self._gate: FastGate | None = None
        self._checks = 0
        self._last: AckRun | None = None
        self._runs: dict[tuple[object, ...], AckRun] = {}

    def guard(self, gate: FastGate) -> None:
        """From now on take requests of users whom the gate knows, and no others."""
        self._gate = gate

    def recheck(self) -> None:
        """Something was done that may change the inputs of a decision: check grants before use."""
        self._checks += 1

    def take_all(self, channel: ChannelId, frames: FrameReader) -> int:
        """Gather the current frame and those after it. Returns ALL if no frame is left; NONE or
        SOME: the current frame is not an acknowledgement for this path."""
        taken = NONE
        grants = self._grants.get(channel)
        while self._take(grants, frames):
            if not frames.advance():
                return ALL
            taken = SOME
        header = frames.header()
        is_ack = header.startswith(_BEGINNING) and len(header) <= _HEADER_BYTES_MAX
        self._candidate = (channel, header) if is_ack else None
        self._candidate_epoch = 0 if self._gate is None else self._gate.epoch
        return taken

    def _take(self, grants: list[AckGrant] | None, frames: FrameReader) -> bool:
        if grants is not None:
            for grant in grants:
                if matches(grant.template, frames):
                    if grant.checked_at == self._checks or self._holds(grant):
                        return self._is_admitted(frames) and self._gather(grant)
                    grants.remove(grant)
                    break
        return False

    def _is_admitted(self, frames: FrameReader) -> bool:
        return self._gate is None or self._gate.admits(frames)

    def _holds(self, grant: AckGrant) -> bool:
        if self._topics.find(grant.topic) is not grant.basis:
            return False
        if self._gate is not None and self._gate.epoch != grant.epoch:
            return False
        grant.checked_at = self._checks
        return True

    def _gather(self, grant: AckGrant) -> bool:
        template = grant.template
        queue_id = template.number(grant.queue_place)
        offset = template.number(grant.offset_place)
        start_offset = template.number(grant.start_place)
        pop_time = template.number(grant.pop_time_place)
        hidden_ms = template.number(grant.hidden_place)
        revive_queue = template.number(grant.revive_place)
        opaque = template.number(grant.opaque_place)
        place_queue = template.number(grant.place_queue_place)
        if (
            not 0 <= queue_id < grant.queues
            or not 0 <= revive_queue < self._revive_queues
            or not -_INT32_MAX - 1 <= opaque <= _INT32_MAX
            or not 0 <= place_queue <= _INT32_MAX
            or template.number(grant.place_offset_place) < 0
            or start_offset < 0
            or pop_time < 0
            or not 0 <= hidden_ms <= _INT64_MAX - pop_time
        ):
            return False
        found = self._queues.find(grant.topic_bytes, queue_id)
        if found is None:
            return False
        queue: ConsumeQueue = found
        if not queue.min_offset <= offset <= queue.max_offset:
            return False
        run = self._last
        if (
            run is None
            or run.start_offset != start_offset
            or run.queue_id != queue_id
            or run.pop_time != pop_time
            or run.revive_queue != revive_queue
            or run.hidden_ms != hidden_ms
            or run.grant is not grant
        ):
            run = self._run(grant, queue_id, start_offset, pop_time, hidden_ms, revive_queue)
        run.offsets.append(offset)
        run.opaques.append(opaque)
        if self._gate is not None:
            self._gate.took()
        return True

    def _run(
        self,
        grant: AckGrant,
        queue_id: int,
        start_offset: int,
        pop_time: int,
        hidden_ms: int,
        revive_queue: int,
    ) -> AckRun:
        names = (grant.topic, grant.group, grant.broker_name)
        numbers = (queue_id, start_offset, pop_time, hidden_ms, revive_queue)
        run = self._runs.get((names, numbers))
        if run is None:
            run = AckRun(grant, queue_id, start_offset, pop_time, hidden_ms, revive_queue)
            self._runs[names, numbers] = run
        self._last = run
        return run

    def take_runs(self) -> list[AckRun]:
        """Take the gathered runs, in the order of their arrival."""
        runs = list(self._runs.values())
        self._runs = {}
        self._last = None
        return runs

    def answer(self, run: AckRun, output: ReplyBuffer) -> None:
        """Answer the requests of a run with success."""
        answer = self._answer
        for opaque in run.opaques:
            answer.put(output, opaque)

    def learn(self, request: Request, header: AckHeader, receipt: PopReceipt) -> None:
        """Make a grant: the general handler accepted an acknowledgement."""
        channel = request.channel
        if self._candidate is None or self._candidate[0] != channel or request.command.is_oneway:
            return
        text = self._candidate[1]
        self._candidate = None
        found = template_of(text, _PATTERNS) or template_of(text, _PROXY_PATTERNS)
        topic = self._topics.find(header.topic)
        if found is None or topic is None:
            return
        template, places, numbers = found
        said = [
            header.queue_id,
            header.offset,
            receipt.start_offset,
            receipt.pop_time,
            receipt.invisible_ms,
            receipt.revive_queue,
            receipt.queue_id,
            receipt.queue_offset,
        ]
        if numbers[:8] != said:
            return
        grant = AckGrant(template, places, header, receipt, topic.read_queues, topic)
        grant.epoch = self._candidate_epoch
        self._grants.setdefault(channel, []).insert(0, grant)
        del self._grants[channel][GRANTS_MAX:]

    def drop_channel(self, channel: ChannelId) -> None:
        self._grants.pop(channel, None)
