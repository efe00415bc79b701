"""The short way of a pull: a consumer that asks for more of what it was given before.

    first time   the general handler checks everything, and what it decided is kept as a `Grant`:
                 the header, as a mould for the next ones, and the plan
    afterwards   a header that differs in its numbers only is understood by comparing it; the
                 grant still holds if nothing it was decided by has changed; messages that are in
                 memory are copied behind the answer's header

Whatever does not fit (nothing there yet, old messages, a reset offset, other headers) takes the
general way. Law: a pull that is taken here is answered as the general handler would.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from aerobee.ports.service import ChannelId
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.headers.pulling import COMMIT_OFFSET, PullHeader
from aerobee.protocol.number_template import NumberTemplate
from aerobee.protocol.pull_answer import PullAnswer, matches
from aerobee.protocol.reply_buffer import ReplyBuffer
from aerobee.service.broker.parked.held_pulls import PullPlan
from aerobee.service.broker.state.offsets import Offsets
from aerobee.service.broker.statistics.flow import Flow, FlowOf
from aerobee.storage.store import Store

GRANTS_MAX = 8
"""Of one connection: as many topics and groups as one client commonly pulls."""
OUTPUT_BYTES_MAX = 1 << 20
"""Beyond, the answers of one read are handed out as slices."""
HEADER_BYTES_MAX = 2048

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
_INT32 = range(-(2**31), 2**31)

Basis = Callable[[str, str], tuple[object, ...]]
"""(group, topic) → everything that a decision about a pull of it is made by, as it is now."""


class Grant(NamedTuple):
    """What was decided for the pulls of one mould."""

    template: NumberTemplate
    order: tuple[int, ...]
    """Which place of the template is the queue's, the offset's, the commit's, the opaque's."""
    plan: PullPlan
    topic: str
    queues: int
    commits: bool
    basis: tuple[object, ...]
    flow: Flow


class PlainPull:
    def __init__(
        self,
        store: Store,
        offsets: Offsets,
        basis: Basis,
        bytes_max: Callable[[], int],
        flow_of: FlowOf,
    ) -> None:
        self._store = store
        self._offsets = offsets
        self._basis = basis
        self._bytes_max = bytes_max
        self._answer = PullAnswer()
        self._grants: dict[ChannelId, list[Grant]] = {}
        # The header of a pull that takes the general way now.
        self._candidate: tuple[ChannelId, bytes] | None = None
        self._flow_of = flow_of
        # Pulls, since the start.
        self.answered = 0

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer) -> bool:
        """Answer the current frame; False: it takes the general way."""
        grants = self._grants.get(channel)
        if grants is not None:
            for grant in grants:
                if matches(grant.template, frames):
                    if self._holds(grant):
                        return self._serve(grant, output)
                    grants.remove(grant)
                    break
        header = frames.header()
        is_pull = header.startswith(_BEGINNINGS) and len(header) <= HEADER_BYTES_MAX
        self._candidate = (channel, header) if is_pull else None
        return False

    def learn(self, channel: ChannelId, header: PullHeader, plan: PullPlan, queues: int) -> None:
        """The general handler found messages for a pull, by this plan, of so many queues."""
        if self._candidate is None or self._candidate[0] != channel:
            return
        text = self._candidate[1]
        self._candidate = None
        said = (header.queue_id, header.queue_offset, header.commit_offset)
        found = []
        for pattern in _PLACES:
            places = list(pattern.finditer(text))
            if len(places) != 1:
                return
            found.append(places[0])
        if tuple(int(place[1]) for place in found[:3]) != said:
            return
        spans = sorted(place.span(1) for place in found)
        grant = Grant(
            NumberTemplate(text, spans),
            tuple(spans.index(place.span(1)) for place in found),
            plan,
            header.topic,
            queues,
            bool(header.sys_flag & COMMIT_OFFSET),
            self._basis(header.consumer_group, header.topic),
            self._flow_of(header.consumer_group, header.topic),
        )
        self._grants.setdefault(channel, []).insert(0, grant)
        del self._grants[channel][GRANTS_MAX:]

    def drop_channel(self, channel: ChannelId) -> None:
        self._grants.pop(channel, None)

    def _holds(self, grant: Grant) -> bool:
        if self._offsets.has_resets:
            return False
        return self._basis(grant.plan.group, grant.topic) == grant.basis

    def _serve(self, grant: Grant, output: ReplyBuffer) -> bool:
        plan, template = grant.plan, grant.template
        queue_id, offset, commit, opaque = (template.number(place) for place in grant.order)
        if not 0 <= queue_id < grant.queues or opaque not in _INT32:
            return False
        queue = self._store.queue(plan.queue[0], queue_id)
        if queue is None or output.position > OUTPUT_BYTES_MAX:
            return False
        answer = self._answer
        answer.begin(output)
        start = output.position
        count = self._store.copy_hot(
            queue,
            offset,
            plan.count_max,
            self._bytes_max(),
            plan.tag_codes,
            output,
            plan.chosen,
        )
        if count == 0:
            answer.undo()
            return False
        next_offset = self._store.copied_to
        answer.end(
            opaque,
            next_offset,
            queue.min_offset,
            queue.max_offset,
            plan.topic_sys_flag,
            plan.group_sys_flag,
        )
        self.answered += 1
        flow = grant.flow
        flow.messages += count
        flow.bytes += output.position - start
        if grant.commits:
            self._offsets.commit(plan.group, grant.topic, queue_id, commit, queue.max_offset)
        self._offsets.note_pulled(plan.group, grant.topic, queue_id, next_offset)
        return True
