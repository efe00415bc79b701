"""The fast path of pulls: answers a consumer that repeats a pull which the general path has
checked.

    first time   the general handler checks everything, and its decision is kept as a `PullGrant`:
                 the header, as a template for the next ones, and the plan
    afterwards   a header that differs from the template in its numbers only matches the grant; the
                 grant is valid while nothing that it was decided by has changed, users and rules
                 included; its signature is checked where that is asked for; messages that are in
                 memory are copied behind the answer's header, old ones after their checksum

Every other pull (no message yet, messages that must be read from the disk, a reset offset, another
header) takes the general path. Law: a pull that is taken here is answered as the general handler
would.

Imports more than 15 modules because a fast path reads, decides and answers in one place.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from aerobee.ports.service import ChannelId
from aerobee.protocol.consume.pull_answer import PullAnswer, matches
from aerobee.protocol.headers.pulling import COMMIT_OFFSET, PullHeader
from aerobee.protocol.message.property_filter import PropertyFilter
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.number_template import NumberTemplate, template_of
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.broker.fast_path import ALL, GRANTS_MAX, NONE, SOME
from aerobee.service.broker.pull.held_pulls import PullPlan
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.statistics.flow import Flow, FlowOf
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.read.queue_reader import QueueReader

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_OUTPUT_BYTES_MAX = 1 << 20  # beyond, the answers of one read are handed out as slices
_HEADER_BYTES_MAX = 2048

_BEGINNINGS = (b'{"code":11,', b'{"code":361,')
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        rb'"queueId":"?(-?[0-9]+)',
        rb'"queueOffset":"?(-?[0-9]+)',
        rb'"commitOffset":"?(-?[0-9]+)',
        rb'"opaque":(-?[0-9]+)',
    )
)

Basis = Callable[[str, str], tuple[object, ...]]
"""(group, topic) → the current inputs of a pull's decision, to compare with earlier ones."""


def is_compiled() -> bool:
    return cython.compiled


class PullGrant:
    """The general handler's decision for pulls whose headers match one template.

    `queue_place`, `offset_place`, `commit_place` and `opaque_place` are the indexes of these
    numbers in the template; `checked_at` is the last value of `FastPull._checks` at which the grant
    was valid; `epoch` is that of the users and rules that it was decided by.
    """

    __slots__ = (
        "basis",
        "checked_at",
        "chosen",
        "commit_place",
        "commits",
        "count_max",
        "epoch",
        "flow",
        "group",
        "group_sys_flag",
        "offset_place",
        "opaque_place",
        "queue_place",
        "queues",
        "tag_codes",
        "template",
        "topic",
        "topic_bytes",
        "topic_sys_flag",
    )

    def __init__(
        self,
        template: NumberTemplate,
        places: list[int],
        plan: PullPlan,
        header: PullHeader,
        queues: int,
        basis: tuple[object, ...],
        flow: Flow,
    ) -> None:
        self.template = template
        self.queue_place = places[0]
        self.offset_place = places[1]
        self.commit_place = places[2]
        self.opaque_place = places[3]
        self.topic = header.topic
        self.topic_bytes = plan.queue[0]
        self.group = plan.group
        self.count_max = plan.count_max
        self.tag_codes = plan.tag_codes
        self.chosen: PropertyFilter | None = plan.chosen
        self.topic_sys_flag = plan.topic_sys_flag
        self.group_sys_flag = plan.group_sys_flag
        self.queues = queues
        self.commits = bool(header.sys_flag & COMMIT_OFFSET)
        self.basis = basis
        self.flow = flow
        self.checked_at = -1
        self.epoch = 0


class FastPull:
    """Answers pulls by their grants. P1. Between two calls of `recheck` nothing changes that a
    grant was decided by."""

    __slots__ = (
        "_answer",
        "_basis",
        "_bytes_max",
        "_bytes_now",
        "_candidate",
        "_candidate_epoch",
        "_checks",
        "_flow_of",
        "_gate",
        "_grants",
        "_offsets",
        "_queues",
        "_reader",
        "answered",
    )

    def __init__(
        self,
        queues: ConsumeQueues,
        reader: QueueReader,
        offsets: ConsumerOffsets,
        basis: Basis,
        bytes_max: Callable[[], int],
        flow_of: FlowOf,
    ) -> None:
        self._queues = queues
        self._reader = reader
        self._offsets = offsets
        self._basis = basis
        self._bytes_max = bytes_max
        self._flow_of = flow_of
        self._answer = PullAnswer()
        self._grants: dict[ChannelId, list[PullGrant]] = {}
        # The header of a pull that takes the general path now.
        self._candidate: tuple[ChannelId, bytes] | None = None
        self._candidate_epoch = 0
        self._gate: FastGate | None = None
        # Number of `recheck` calls, and the largest answer allowed since the last one.
        self._checks = 0
        self._bytes_now = 0
        # Pulls, since the start.
        self.answered = 0

    def guard(self, gate: FastGate) -> None:
        """From now on take requests of users whom the gate knows, and no others."""
        self._gate = gate

    def recheck(self) -> None:
        """Something was done that may change the inputs of a decision: check grants before use."""
        self._checks += 1

    def take_all(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer) -> int:
        """Answer the current frame and those after it. Returns ALL if no frame is left; NONE or
        SOME: the current frame is not a pull for this path."""
        taken = NONE
        while self._take(channel, frames, output):
            if not frames.advance():
                return ALL
            taken = SOME
        return taken

    def _take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer) -> bool:
        grants = self._grants.get(channel)
        if grants is not None:
            for grant in grants:
                if matches(grant.template, frames):
                    if grant.checked_at == self._checks or self._holds(grant):
                        # What the general path decides now is not about an earlier header.
                        self._candidate = None
                        return self._is_admitted(frames) and self._serve(grant, output)
                    grants.remove(grant)
                    break
        header = frames.header()
        is_pull = header.startswith(_BEGINNINGS) and len(header) <= _HEADER_BYTES_MAX
        self._candidate = (channel, header) if is_pull else None
        self._candidate_epoch = 0 if self._gate is None else self._gate.epoch
        return False

    def _is_admitted(self, frames: FrameReader) -> bool:
        return self._gate is None or self._gate.admits(frames)

    def learn(self, channel: ChannelId, header: PullHeader, plan: PullPlan, queues: int) -> None:
        """Make a grant: the general handler found messages for a pull by this plan; `queues` is the
        number of queues of the topic."""
        if self._candidate is None or self._candidate[0] != channel:
            return
        text = self._candidate[1]
        self._candidate = None
        said = [header.queue_id, header.queue_offset, header.commit_offset]
        found = template_of(text, _PLACES)
        if found is None or found[2][:3] != said:
            return
        grant = PullGrant(
            found[0],
            found[1],
            plan,
            header,
            queues,
            self._basis(header.consumer_group, header.topic),
            self._flow_of(header.consumer_group, header.topic),
        )
        grant.epoch = self._candidate_epoch
        self._grants.setdefault(channel, []).insert(0, grant)
        del self._grants[channel][GRANTS_MAX:]

    def drop_channel(self, channel: ChannelId) -> None:
        self._grants.pop(channel, None)

    def _holds(self, grant: PullGrant) -> bool:
        if self._offsets.has_resets or self._basis(grant.group, grant.topic) != grant.basis:
            return False
        if self._gate is not None and self._gate.epoch != grant.epoch:
            return False
        grant.checked_at = self._checks
        self._bytes_now = self._bytes_max()
        return True

    def _serve(self, grant: PullGrant, output: ReplyBuffer) -> bool:
        template = grant.template
        queue_id = template.number(grant.queue_place)
        opaque = template.number(grant.opaque_place)
        if not 0 <= queue_id < grant.queues or not -(1 << 31) <= opaque < 1 << 31:
            return False
        found = self._queues.find(grant.topic_bytes, queue_id)
        if found is None or output.position > _OUTPUT_BYTES_MAX:
            return False
        queue: ConsumeQueue = found
        answer = self._answer
        answer.begin(output)
        start = output.position
        count = self._reader.copy(
            queue,
            template.number(grant.offset_place),
            grant.count_max,
            self._bytes_now,
            grant.tag_codes,
            output,
            grant.chosen,
        )
        if count == 0:
            answer.undo()
            return False
        next_offset = self._reader.next_offset
        answer.end(
            opaque,
            next_offset,
            queue.min_offset,
            queue.max_offset,
            grant.topic_sys_flag,
            grant.group_sys_flag,
        )
        if self._gate is not None:
            self._gate.took()
        self.answered += 1
        grant.flow.add_fast(count, output.position - start)
        if grant.commits:
            commit = template.number(grant.commit_place)
            self._offsets.commit(grant.group, grant.topic, queue_id, commit, queue.max_offset)
        self._offsets.note_pulled(grant.group, grant.topic, queue_id, next_offset)
        return True
