"""FastAckWriter gathers, writes and answers the acknowledgements of one read on the fast path.

Those of one checkpoint that come in one read become one record, as in `ack_writer`; it is in the
log before any of them is answered. The answers go out with the read, or wait until the record is
confirmed (`safe_answers`). If the store refuses the record, its acknowledgements are
answered with an error, and the messages come back.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Write
from aerobee.protocol.remoting.command_header import RESPONSE_FLAG
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import Answerable, answer_if_safe
from aerobee.service.broker.pop.ack.ack_writer import DOUBT, AckWriter
from aerobee.service.broker.pop.ack.fast_ack import AckRun, FastAck
from aerobee.service.request import OK, Answer

NoteAnswers: TypeAlias = Callable[[int, ResponseCode, int, int], None]
"""Called for answers: (request code, response code, arrival on the monotonic clock, count)."""


class FastAckWriter:
    def __init__(
        self,
        plain: FastAck,
        ack_writer: AckWriter,
        writer: MessageWriter,
        outbox: Effects,
        note: NoteAnswers,
    ) -> None:
        self._plain = plain
        self._ack_writer = ack_writer
        self._writer = writer
        self._outbox = outbox
        self._note = note
        # Buffer for answers that had to wait for the disk.
        self._answers = ReplyBuffer()

    def take(self, channel: ChannelId, frames: FrameReader) -> int:
        """See `FastAck.take_all`. `finish` is to be called before the read is over."""
        return self._plain.take_all(channel, frames)

    def finish(self, channel: ChannelId, output: ReplyBuffer, now: Now) -> None:
        """Write the acknowledgements that were taken to the log, and answer them."""
        for run in self._plain.take_runs():
            done = self._ack_writer.put(
                run.key(), run.revive_queue, run.revive_time(), run.offsets, now
            )
            if isinstance(done, Answer):
                self._refuse(run, done, output, now)
            elif self._writer.answers.are_later:
                self._writer.answers.wait(done, now, self._later(channel, run, now))
            else:
                self._plain.answer(run, output)
                self._count(run, ResponseCode.SUCCESS, now)

    def _refuse(self, run: AckRun, answer: Answer, output: ReplyBuffer, now: Now) -> None:
        for opaque in run.opaques:
            command = RemotingCommand(
                answer.code, flag=RESPONSE_FLAG, opaque=opaque, remark=answer.remark
            )
            output.append(b"".join(encode(command)))
        self._count(run, answer.code, now)

    def _later(self, channel: ChannelId, run: AckRun, now: Now) -> Answerable:
        def tell(code: ResponseCode) -> None:
            if code is ResponseCode.SUCCESS:
                self._plain.answer(run, self._answers)
                self._count(run, ResponseCode.SUCCESS, now)
            else:
                self._refuse(run, answer_if_safe(OK, code, DOUBT), self._answers, now)
            self._outbox.append(Write(channel, self._answers.take()))

        return tell

    def _count(self, run: AckRun, code: ResponseCode, now: Now) -> None:
        self._note(RequestCode.ACK_MESSAGE, code, now.monotonic_ms, len(run.opaques))
