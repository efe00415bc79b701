"""`TracedInbox`: the inbox of a consumer with `trace=True`. It records receiving and results.

    take ─▶ SubBefore      done ─▶ SubAfter, a success      failed ─▶ SubAfter, a failure

A message that is given back has only its SubBefore, and gets another when it is handed out again.
Brokers may mark messages as not to be traced.
"""

from aerobee.client.api.message import Message
from aerobee.client.connection.session import Session
from aerobee.client.core.trace_records import (
    DEFAULT_REGION,
    ConsumedCode,
    Received,
    TraceBuffer,
    consumed_record,
    received_record,
)
from aerobee.client.group.inbox import Inbox, LaneOf
from aerobee.model.properties import KEYS, MESSAGE_REGION, TRACE_SWITCH


class TracedInbox(Inbox):
    def __init__(
        self, room: int, lane_of: LaneOf | None, group: str, session: Session, records: TraceBuffer
    ) -> None:
        super().__init__(room, lane_of)
        self._group = group
        self._session = session
        self._records = records
        self._begun: dict[Message, tuple[Received, int]] = {}

    def take_nowait(self) -> Message | None:
        message = super().take_nowait()
        if message is not None:
            self._begin(message)
        return message

    def take_some(self, count: int) -> list[Message]:
        taken = super().take_some(count)
        for message in taken:
            self._begin(message)
        return taken

    def _begin(self, message: Message) -> None:
        if message.properties.get(TRACE_SWITCH) != "false":
            clock = self._session.clock
            received = Received(
                clock.now().wall_ms,
                message.properties.get(MESSAGE_REGION, DEFAULT_REGION),
                self._group,
                self._session.new_id(),
                message.message_id,
                message.reconsume_times,
                message.properties.get(KEYS, ""),
            )
            self._begun[message] = (received, clock.monotonic_ms())
            self._records.put(received_record(received))

    def failed(self, message: Message, code: ConsumedCode = ConsumedCode.FAILED) -> None:
        self._end(message, code)

    def done(self, message: Message) -> None:
        self._end(message, ConsumedCode.SUCCESS)
        super().done(message)

    def done_all(self, messages: list[Message]) -> None:
        for message in messages:
            self._end(message, ConsumedCode.SUCCESS)
        super().done_all(messages)

    def _end(self, message: Message, code: ConsumedCode) -> None:
        received, started_ms = self._begun.pop(message, (None, 0))
        if received is not None:
            clock = self._session.clock
            cost_ms = clock.monotonic_ms() - started_ms
            self._records.put(consumed_record(received, clock.now().wall_ms, cost_ms, code))
