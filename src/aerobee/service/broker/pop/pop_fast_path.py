"""PopFastPath joins the fast paths of pops and acknowledgements: one read may bring both.

They come in any order. Acknowledgements are gathered over the whole read and go into the log when
it has no more of either.

Imports more than 15 modules because it puts the others together.
"""

from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects
from aerobee.protocol.headers.popping import PopHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.fast_path import ALL, NONE, SOME
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.pop.ack.fast_ack import FastAck
from aerobee.service.broker.pop.ack.fast_ack_writer import FastAckWriter, NoteAnswers
from aerobee.service.broker.pop.pop_parts import PopParts
from aerobee.service.broker.pop.take.fast_pop import FastPop, NoteAnswer
from aerobee.service.broker.pop.take.fast_pop_walk import FastPopWalk
from aerobee.service.broker.pop.take.held_pops import PopPlan
from aerobee.service.broker.pop.take.pop_checks import PopChecks
from aerobee.service.broker.pop.take.pop_walk import CountOut
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Request
from aerobee.storage.store import Store


class Outlets(NamedTuple):
    """Callbacks of the fast path: effects, counts of messages handed out, counts of answers."""

    outbox: Effects
    count_out: CountOut
    note_fast: NoteAnswer
    note: NoteAnswers


class PopFastPath:
    """A `fast_path.FastPath` for POP_MESSAGE and ACK_MESSAGE."""

    def __init__(
        self,
        parts: PopParts,
        store: Store,
        topics: Topics,
        checks: PopChecks,
        writer: MessageWriter,
        outlets: Outlets,
    ) -> None:
        fast_path_readers = store.fast_path_readers
        walk = FastPopWalk(fast_path_readers, parts.pop_walk)
        self.pops = FastPop(walk, checks.basis, outlets.note_fast)
        self.fast_ack = FastAck(fast_path_readers[0], topics, parts.revive_queue_count)
        self._fast_ack_writer = FastAckWriter(
            self.fast_ack, parts.ack_writer, writer, outlets.outbox, outlets.note
        )
        self._note = outlets.note
        self._topics = topics
        self._orders = checks.orders

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> int:
        popped, taken = self.pops.answered, NONE
        try:
            while True:
                acked = self._fast_ack_writer.take(channel, frames)
                if acked == ALL:
                    return ALL
                got = self.pops.take_all(channel, frames, output, now)
                if got == ALL:
                    return ALL
                if acked == NONE and got == NONE:
                    return taken
                taken = SOME
        finally:
            # Also when a frame breaks the protocol: the frames before it are answered.
            self._fast_ack_writer.finish(channel, output, now)
            popped = self.pops.answered - popped
            if popped:
                since_ms = now.monotonic_ms
                self._note(RequestCode.POP_MESSAGE, ResponseCode.SUCCESS, since_ms, popped)

    def learn_pop(self, request: Request, header: PopHeader, plan: PopPlan) -> None:
        """The general handler decided to run a pop by this plan."""
        topic = self._topics.find(plan.topic)
        # The fast path reads the log, which still has messages that compaction removed.
        if topic is not None and not topic.is_compacted:
            self.pops.learn(request, header, plan, self._orders.of(plan))

    def recheck(self) -> None:
        self.pops.recheck()
        self.fast_ack.recheck()

    def drop_channel(self, channel: ChannelId) -> None:
        self.pops.drop_channel(channel)
        self.fast_ack.drop_channel(channel)
