"""Writes acknowledgements to the log: one record per checkpoint and turn of the loop.

Clients acknowledge message by message, all of one pop within moments. The acknowledgements of one
checkpoint that arrive in one turn become one record; each is answered when the record is as safe as
the flush mode promises. None waits longer than the turn for the others.

If the store refuses the record the client is told: the message comes back.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from aerobee.errors import AerobeeError, StorageError
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.revive_records import AckRecord, CheckpointKey
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import answer_if_safe
from aerobee.service.broker.log_access.store_refusals import refused_by_store
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.request import OK, Answer

Told: TypeAlias = Callable[[Answer], None]
_Run: TypeAlias = tuple[CheckpointKey, int, int]
"""A checkpoint, its revive queue, and the time at which its messages become visible."""

DOUBT = "it may not be acknowledged"


class AckWriter:
    def __init__(self, log: ReviveWriter, writer: MessageWriter, in_flight: InFlight) -> None:
        self._log = log
        self._writer = writer
        self._in_flight = in_flight
        self._offsets: dict[_Run, dict[int, None]] = {}
        self._told: dict[_Run, list[Told]] = {}

    def add(
        self,
        key: CheckpointKey,
        revive_queue: int,
        revive_time: int,
        offsets: Iterable[int],
        told: Told,
    ) -> None:
        """Acknowledge these offsets with the others of this turn; `told` gets the answer."""
        run = (key, revive_queue, revive_time)
        self._offsets.setdefault(run, {}).update(dict.fromkeys(offsets))
        self._told.setdefault(run, []).append(told)

    def settle(self, now: Now) -> None:
        """Write the acknowledgements of this turn."""
        if not self._offsets:
            return
        offsets, self._offsets = self._offsets, {}
        told, self._told = self._told, {}
        for run, acked in offsets.items():
            self._write(run, acked, told[run], now)

    def put(
        self,
        key: CheckpointKey,
        revive_queue: int,
        revive_time: int,
        offsets: Iterable[int],
        now: Now,
    ) -> int | Answer:
        """Write one record now. Returns the log offset up to which the log must be safe before it
        is answered, or the answer that refuses it."""
        acked = tuple(dict.fromkeys(offsets))
        try:
            stored = self._log.put_ack(AckRecord(key, acked), revive_queue, revive_time, now)
        except StorageError as error:
            return refused_by_store(error)
        except AerobeeError as error:
            return Answer(ResponseCode.SYSTEM_ERROR, str(error))
        self._in_flight.acked(key, acked)
        return stored.end_offset

    def _write(self, run: _Run, offsets: Iterable[int], told: list[Told], now: Now) -> None:
        key, revive_queue, revive_time = run
        done = self.put(key, revive_queue, revive_time, offsets, now)
        if isinstance(done, Answer):
            _tell(told, done)
        else:
            self._writer.answers.wait(
                done, now, lambda code: _tell(told, answer_if_safe(OK, code, DOUBT))
            )


def _tell(told: list[Told], answer: Answer) -> None:
    for one in told:
        one(answer)
