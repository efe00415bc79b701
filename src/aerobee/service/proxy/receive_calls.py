"""ReceiveMessage: a pop of any queue of the broker, held until messages come or its time is over.

    status │ message … │ delivery timestamp        then the end of the stream

A message whose tag is not one of the filter's, though it has the same hash, is acknowledged and not
handed out; one that was tried too often is made a dead letter. If the client has given up
meanwhile, what was popped for it is visible again after a second, as if it had not been tried.

Imports more than 15 modules because a receive touches filters, receipts, messages and settings.
"""

from collections.abc import Sequence

from aerobee.errors import ProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.consume.pop_receipt import encode_pop_receipt
from aerobee.protocol.grpc.calls import ReceiveMessageRequest, ReceiveMessageResponse
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.message_mapping import delivered_message
from aerobee.protocol.grpc.resources import GrpcMessage, Status, timestamp_of
from aerobee.protocol.headers.popping import ANY_QUEUE, PopHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.call_checks import (
    MessageFilter,
    filter_in,
    group_in,
    names_of,
    topic_in,
)
from aerobee.service.proxy.client_settings import (
    POLL_MS_MAX,
    RECEIVE_BATCH_MAX,
    REQUEST_TIMEOUT_MS,
    attempts_max,
)
from aerobee.service.proxy.desk import Asked, Desk, Names
from aerobee.service.proxy.grpc_clients import GrpcClient
from aerobee.service.proxy.open_call import Method, OpenCall
from aerobee.service.proxy.outcomes import OK_STATUS, CallRefused, status_of
from aerobee.service.proxy.popped_messages import (
    HandedRecord,
    RecordsInPlace,
    found_responses,
    popped_messages,
)
from aerobee.service.proxy.receipt_calls import ReceiptCalls
from aerobee.service.request import Answer

INVISIBLE_MS = 60_000
"""Of messages that are renewed."""
INVISIBLE_MS_MIN = 10_000
INVISIBLE_MS_MAX = 12 * 3_600_000
BEFORE_DEADLINE_MS = 100
"""An answer is on its way so long before the client gives up."""
FROM_MAX = 1

_NOTHING_NEW = Status(GrpcCode.MESSAGE_NOT_FOUND, "no new message")
_NOTHING_FITS = Status(GrpcCode.MESSAGE_NOT_FOUND, "no match message")


class _Wanted:
    """A receive that passed its checks."""

    __slots__ = (
        "attempts_max",
        "broker",
        "filter",
        "group",
        "invisible_ms",
        "is_orderly",
        "is_renewed",
        "topic",
    )

    def __init__(self, request: ReceiveMessageRequest, desk: Desk) -> None:
        queue = request.message_queue
        self.topic = topic_in(None if queue is None else queue.topic)
        self.group = group_in(request.group)
        asked = "" if queue is None or queue.broker is None else queue.broker.name
        self.broker = desk.choose_broker(self.topic, asked)
        config = desk.find_group(self.group)
        self.is_orderly = config is not None and config.is_orderly
        self.attempts_max = attempts_max(config)
        self.is_renewed = request.auto_renew
        self.filter: MessageFilter = filter_in(request.filter_expression)
        self.invisible_ms = INVISIBLE_MS
        if not self.is_renewed:
            wanted = request.invisible_duration
            self.invisible_ms = 0 if wanted is None else wanted.ms
            if not INVISIBLE_MS_MIN <= self.invisible_ms <= INVISIBLE_MS_MAX:
                raise CallRefused(
                    GrpcCode.ILLEGAL_INVISIBLE_TIME,
                    f"the invisibleTime is {self.invisible_ms} ms, and must be "
                    f"{INVISIBLE_MS_MIN} to {INVISIBLE_MS_MAX}",
                )


class ReceiveCalls:
    """R1. `_held` has the receives that are neither answered nor given up, by their clients."""

    def __init__(self, desk: Desk, receipts: ReceiptCalls) -> None:
        self._desk = desk
        self._receipts = receipts
        self._now = Now(0, 0)
        self._records = RecordsInPlace()
        self._held: dict[ChannelId, dict[OpenCall, Asked]] = {}

    def methods(self) -> list[Method]:
        return [
            Method(
                "ReceiveMessage",
                RequestCode.POP_MESSAGE,
                ReceiveMessageRequest,
                self._receive,
                _refuse,
                _names,
            )
        ]

    def on_tick(self, now: Now) -> None:
        self._now = now

    def _receive(self, call: OpenCall, request: ReceiveMessageRequest, now: Now) -> None:
        self._now = now
        wanted = _Wanted(request, self._desk)
        header = PopHeader(
            wanted.group,
            wanted.topic,
            ANY_QUEUE,
            max(1, min(request.batch_size, RECEIVE_BATCH_MAX)),
            wanted.invisible_ms,
            _poll_ms(call, request, now),
            now.wall_ms,
            FROM_MAX,
            wanted.filter.type,
            wanted.filter.expression,
            wanted.is_orderly,
            request.attempt_id or "",
        )

        def popped(answer: Answer) -> None:
            self._take_held(call)
            self._answer(call, wanted, answer)

        code, broker = RequestCode.POP_MESSAGE, wanted.broker
        asked = self._desk.ask(call.asker, code, header, now, popped, broker=broker)
        if call.is_open:
            self._held.setdefault(call.client.channel, {})[call] = asked

    def given_up(self, call: OpenCall) -> None:
        """The client of a call has given it up: it takes no messages from others."""
        if not call.is_unasked:
            asked = self._take_held(call)
            if asked is not None:
                self._desk.withdraw(asked)

    def client_gone(self, client: GrpcClient, now: Now) -> None:
        """Answer what a client waits for that leaves: it may wait for that with its leaving."""
        for call, asked in list(self._held.get(client.channel, {}).items()):
            self._take_held(call)
            self._desk.withdraw(asked)
            _finish(call, _NOTHING_NEW, now)

    def _take_held(self, call: OpenCall) -> Asked | None:
        mine = self._held.get(call.client.channel, {})
        asked = mine.pop(call, None)
        if asked is not None and not mine:
            del self._held[call.client.channel]
        return asked

    def _answer(self, call: OpenCall, wanted: _Wanted, answer: Answer) -> None:
        now = self._now
        if answer.code is not ResponseCode.SUCCESS:
            is_empty = answer.code in (ResponseCode.POLLING_TIMEOUT, ResponseCode.PULL_NOT_FOUND)
            _finish(call, _NOTHING_NEW if is_empty else status_of(answer), now)
            return
        if call.is_open and not wanted.is_orderly:
            records = self._records.read(answer, wanted.broker, wanted.topic)
            if records is not None:
                self._hand_out(call, wanted, records, now)
                return
        try:
            found = popped_messages(answer, wanted.broker)
        except ProtocolError as error:
            _finish(call, Status(GrpcCode.INTERNAL_SERVER_ERROR, str(error)), now)
            return
        handed = []
        for message, receipt, attempt in found:
            handle = f"{encode_pop_receipt(receipt)} {message.log_offset}"
            if not call.is_open:
                self._receipts.give_back(call.client, wanted.group, wanted.topic, handle, now)
            elif wanted.filter.tags is not None and message.tag not in wanted.filter.tags:
                self._receipts.drop(call.client, wanted.group, wanted.topic, handle, now)
            elif attempt > wanted.attempts_max and not wanted.is_orderly:
                said = (wanted.group, wanted.topic, message.message_id, handle)
                self._receipts.bury(call.client, *said, now)
            else:
                handed.append(delivered_message(message, wanted.topic, attempt, handle))
                if wanted.is_renewed:
                    place = (wanted.group, wanted.topic)
                    self._receipts.renew(
                        call.client, *place, message.message_id, handle, now, attempt
                    )
        _finish(call, OK_STATUS if handed else _NOTHING_FITS, now, handed)

    def _hand_out(
        self, call: OpenCall, wanted: _Wanted, records: Sequence[HandedRecord], now: Now
    ) -> None:
        """Answer with records that were mapped in place."""
        group, topic, tags = wanted.group, wanted.topic, wanted.filter.tags
        responses: list[bytes] = []
        for record in records:
            if tags is not None and record.tag not in tags:
                self._receipts.drop(call.client, group, topic, record.handle, now)
                continue
            responses.append(record.response)
            if wanted.is_renewed:
                self._receipts.renew(
                    call.client, group, topic, record.message_id, record.handle, now
                )
        if responses:
            call.answer_all(found_responses(responses, now.wall_ms))
        else:
            _finish(call, _NOTHING_FITS, now)


def _names(request: ReceiveMessageRequest) -> Names:
    queue = request.message_queue
    return names_of(None if queue is None else queue.topic, request.group)


def _poll_ms(call: OpenCall, request: ReceiveMessageRequest, now: Now) -> int:
    """The time for which a receive may be held: the client's wish, or what its deadline leaves."""
    settings = call.client.settings
    timeout = settings.request_timeout if settings is not None else None
    left_ms = None
    if call.deadline_ms is not None:
        left_ms = max(0, call.deadline_ms - now.monotonic_ms - BEFORE_DEADLINE_MS)
    if request.long_polling_timeout is not None:
        poll_ms = request.long_polling_timeout.ms
    elif left_ms is not None:
        poll_ms = left_ms - (REQUEST_TIMEOUT_MS if timeout is None else timeout.ms) // 2
    else:
        poll_ms = POLL_MS_MAX
    return max(0, min(poll_ms, POLL_MS_MAX, POLL_MS_MAX if left_ms is None else left_ms))


def _finish(call: OpenCall, status: Status, now: Now, messages: Sequence[GrpcMessage] = ()) -> None:
    call.send(ReceiveMessageResponse(status=status))
    for message in messages:
        call.send(ReceiveMessageResponse(message=message))
    call.send(ReceiveMessageResponse(delivery_timestamp=timestamp_of(now.wall_ms)))
    call.end()


def _refuse(call: OpenCall, request: object, status: Status, now: Now) -> None:
    _finish(call, status, now)
