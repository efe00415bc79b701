"""AckMessage, ChangeInvisibleDuration and ForwardMessageToDeadLetterQueue: calls about a receipt.

    handle   receipt of the pop (`protocol.consume.pop_receipt`), a blank, the message's log offset

A handle comes back from a client, so it is read with distrust. If the service has renewed the
message, the newest receipt takes the handle's place. Every answer to a change has a handle, a
refusal the old one: clients keep what they are told.

Imports more than 15 modules because three calls and the renewals of all receipts are here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from aerobee.errors import Refused, RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.protocol.consume.pop_receipt import (
    PopReceipt,
    decode_pop_receipt,
    encode_pop_receipt,
    topic_of,
)
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    AckMessageResponse,
    AckMessageResultEntry,
    ChangeInvisibleDurationRequest,
    ChangeInvisibleDurationResponse,
    ForwardToDeadLettersRequest,
    StatusResponse,
)
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.headers.popping import (
    AckHeader,
    InvisibleTimeAnswerHeader,
    InvisibleTimeHeader,
)
from aerobee.protocol.headers.sending_back import SendBackHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.call_checks import group_in, names_of, topic_in
from aerobee.service.proxy.client_settings import retry_delay_ms
from aerobee.service.proxy.desk import Asker, Desk, Names, Then
from aerobee.service.proxy.grpc_clients import GrpcClient
from aerobee.service.proxy.open_call import Method, OpenCall, answering
from aerobee.service.proxy.outcomes import CallRefused, common_status, status_of
from aerobee.service.proxy.renewals import Renewal, RenewalKey, Renewals
from aerobee.service.request import Answer

ENTRIES_MAX = 1_024
INVISIBLE_MS_MAX = 12 * 3_600_000
GIVEN_BACK_MS = 1_000
"""Messages of a client that is gone are visible again after this time."""


_Named: TypeAlias = tuple[GrpcClient, str, str, str]
"""Whose message a call is about: client, group, message id, and the handle that the client has."""


class ReceiptHandle:
    """A handle that was read: the receipt of a message, and where its record lies."""

    __slots__ = ("log_offset", "receipt", "text")

    def __init__(self, text: str) -> None:
        try:
            self.receipt = decode_pop_receipt(text)
        except RemoteProtocolError:
            raise CallRefused(
                GrpcCode.INVALID_RECEIPT_HANDLE, f"receipt handle is illegal: {text[:100]!r}"
            ) from None
        self.text = text
        last = text.split(" ")[8:9]
        self.log_offset = int(last[0]) if last and last[0].isdigit() else None

    def check_expiry(self, now: Now) -> None:
        if self.receipt.revive_time <= now.wall_ms:
            raise CallRefused(GrpcCode.INVALID_RECEIPT_HANDLE, "receipt handle is expired")


class ReceiptCalls:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.renewals = Renewals(self._renew_now, self._let_go)

    def methods(self) -> list[Method]:
        def names(request: Any) -> Names:
            return names_of(request.topic)

        return [
            Method(
                "AckMessage",
                RequestCode.ACK_MESSAGE,
                AckMessageRequest,
                self._ack,
                answering(AckMessageResponse),
                names,
            ),
            Method(
                "ChangeInvisibleDuration",
                RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
                ChangeInvisibleDurationRequest,
                self._change,
                _refuse_change,
                names,
            ),
            Method(
                "ForwardMessageToDeadLetterQueue",
                RequestCode.CONSUMER_SEND_MSG_BACK,
                ForwardToDeadLettersRequest,
                self._forward,
                answering(StatusResponse),
                names,
            ),
        ]

    # Acknowledging.

    def _ack(self, call: OpenCall, request: AckMessageRequest, now: Now) -> None:
        group, topic = group_in(request.group), topic_in(request.topic)
        if len(request.entries) > ENTRIES_MAX:
            raise CallRefused(GrpcCode.BAD_REQUEST, f"more than {ENTRIES_MAX} entries")
        if not request.entries:
            call.answer(AckMessageResponse(common_status([])))
            return
        answers = _AckAnswers(call, request.entries)
        for index, entry in enumerate(request.entries):
            self._ack_one(call, (group, topic), entry, now, answers.adding(index))

    def _ack_one(
        self,
        call: OpenCall,
        place: tuple[str, str],
        entry: AckMessageEntry,
        now: Now,
        done: Callable[[Status], None],
    ) -> None:
        """`place` is the group and the topic."""
        group, topic = place

        def ack(key: RenewalKey, handle: ReceiptHandle) -> None:
            handle.check_expiry(now)
            with self._ending(call.client, key, lambda answer: done(status_of(answer))) as heard:
                self._ask_ack(call.asker, group, topic, handle.receipt, now, heard)

        named = (call.client, group, entry.message_id, entry.receipt_handle)
        self._with_newest(named, ack, done)

    def drop(self, client: GrpcClient, group: str, topic: str, handle: str, now: Now) -> None:
        """Acknowledge a message that is not handed out."""
        receipt = decode_pop_receipt(handle)
        self._ask_ack(Asker(client.channel), group, topic, receipt, now, _nobody_waits)

    def _ask_ack(
        self,
        asker: Asker,
        group: str,
        topic: str,
        receipt: PopReceipt,
        now: Now,
        then: Then,
    ) -> None:
        header = AckHeader(
            group,
            topic_of(receipt.origin, group, topic),
            receipt.queue_id,
            encode_pop_receipt(receipt),
            receipt.queue_offset,
        )
        broker = receipt.broker_name
        self._desk.ask(asker, RequestCode.ACK_MESSAGE, header, now, then, broker=broker)

    # Changing.

    def _change(self, call: OpenCall, request: ChangeInvisibleDurationRequest, now: Now) -> None:
        group, topic = group_in(request.group), topic_in(request.topic)
        invisible_ms = 0 if request.invisible_duration is None else request.invisible_duration.ms
        if not 0 <= invisible_ms <= INVISIBLE_MS_MAX:
            raise CallRefused(
                GrpcCode.ILLEGAL_INVISIBLE_TIME,
                f"the invisibleTime is {invisible_ms} ms, and must be 0 to {INVISIBLE_MS_MAX}",
            )

        def change(key: RenewalKey, handle: ReceiptHandle) -> None:
            handle.check_expiry(now)

            def changed(answer: Answer) -> None:
                given = request.receipt_handle
                if answer.code is ResponseCode.SUCCESS:
                    given = _changed_handle(handle, answer)
                call.answer(ChangeInvisibleDurationResponse(status_of(answer), given))

            place, suspend = (group, topic), bool(request.suspend)
            with self._ending(call.client, key, changed) as heard:
                self._ask_change(
                    call.asker, place, handle.receipt, invisible_ms, now, heard, suspend=suspend
                )

        named = (call.client, group, request.message_id, request.receipt_handle)
        self._with_newest(named, change, lambda status: _refuse_change(call, request, status, now))

    def give_back(self, client: GrpcClient, group: str, topic: str, handle: str, now: Now) -> None:
        """Make a message visible soon that its client did not get."""
        receipt = decode_pop_receipt(handle)
        self._ask_change(
            Asker(client.channel),
            (group, topic),
            receipt,
            GIVEN_BACK_MS,
            now,
            _nobody_waits,
            suspend=True,
        )

    def _ask_change(
        self,
        asker: Asker,
        place: tuple[str, str],
        receipt: PopReceipt,
        invisible_ms: int,
        now: Now,
        then: Then,
        *,
        suspend: bool = False,
    ) -> None:
        """`place` is the group and the topic."""
        group, topic = place
        header = InvisibleTimeHeader(
            group,
            topic_of(receipt.origin, group, topic),
            receipt.queue_id,
            encode_pop_receipt(receipt),
            receipt.queue_offset,
            invisible_ms,
            suspend,
        )
        code = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
        self._desk.ask(asker, code, header, now, then, broker=receipt.broker_name)

    # Dead letters.

    def _forward(self, call: OpenCall, request: ForwardToDeadLettersRequest, now: Now) -> None:
        group, topic = group_in(request.group), topic_in(request.topic)

        def answered(status: Status) -> None:
            call.answer(StatusResponse(status))

        def forward(key: RenewalKey, handle: ReceiptHandle) -> None:
            if handle.log_offset is None:
                raise CallRefused(
                    GrpcCode.INVALID_RECEIPT_HANDLE, "the receipt handle has no commit log offset"
                )
            place = (group, topic)
            with self._ending(
                call.client, key, lambda answer: answered(status_of(answer))
            ) as heard:
                self._ask_burial(call.asker, place, request.message_id, handle, now, heard)

        named = (call.client, group, request.message_id, request.receipt_handle)
        self._with_newest(named, forward, answered)

    def bury(
        self, client: GrpcClient, group: str, topic: str, message_id: str, handle: str, now: Now
    ) -> None:
        """Make a message a dead letter that was tried too often: brokers of Apache's leave that to
        the proxy."""
        asker, place = Asker(client.channel), (group, topic)
        self._ask_burial(asker, place, message_id, ReceiptHandle(handle), now, _nobody_waits)

    def _ask_burial(
        self,
        asker: Asker,
        place: tuple[str, str],
        message_id: str,
        handle: ReceiptHandle,
        now: Now,
        then: Then,
    ) -> None:
        """`place` is the group and the topic."""
        group, topic = place

        def stored(answer: Answer) -> None:
            then(answer)
            if answer.code is ResponseCode.SUCCESS:
                own = Asker(asker.channel)
                self._ask_ack(own, group, topic, handle.receipt, now, _nobody_waits)

        header = SendBackHeader(
            handle.log_offset or 0,
            group,
            delay_level=-1,
            origin_message_id=message_id,
            origin_topic=topic,
            max_reconsume_times=0,
        )
        code, broker = RequestCode.CONSUMER_SEND_MSG_BACK, handle.receipt.broker_name
        self._desk.ask(asker, code, header, now, stored, broker=broker)

    # Renewing.

    def renew(
        self,
        client: GrpcClient,
        group: str,
        topic: str,
        message_id: str,
        handle: str,
        now: Now,
        attempt: int = 1,
    ) -> None:
        """Keep a message invisible until its client is done with it. `attempt`: the number of its
        delivery, from 1 on."""
        receipt = decode_pop_receipt(handle)
        key, expiry_ms = _key(client, group, message_id, receipt), receipt.revive_time
        self.renewals.add(
            Renewal(key, client.channel, topic, handle, now.wall_ms, expiry_ms, attempt=attempt)
        )

    def client_gone(self, client: GrpcClient, now: Now) -> None:
        """Make the messages of a client visible soon."""
        for renewal in self.renewals.take_client(client.id):
            self.renewals.when_known(renewal, partial(self._release, renewal, GIVEN_BACK_MS, now))

    def stop(self, now: Now) -> None:
        for renewal in self.renewals.take_all():
            self._release(renewal, GIVEN_BACK_MS, now)

    def _let_go(self, renewal: Renewal, now: Now) -> None:
        """A message has been with its client for too long: it comes again as one that failed."""
        group = self._desk.find_group(renewal.key[1])
        self._release(renewal, retry_delay_ms(group, renewal.attempt - 1), now)

    def _release(self, renewal: Renewal, invisible_ms: int, now: Now) -> None:
        receipt = decode_pop_receipt(renewal.handle)
        place = (renewal.key[1], renewal.topic)
        asker = Asker(renewal.channel)
        self._ask_change(asker, place, receipt, invisible_ms, now, _nobody_waits)

    def _renew_now(self, renewal: Renewal, invisible_ms: int, now: Now) -> None:
        handle = ReceiptHandle(renewal.handle)

        def changed(answer: Answer) -> None:
            if answer.code is ResponseCode.SUCCESS:
                newest = _changed_handle(handle, answer)
                revive_time = decode_pop_receipt(newest).revive_time
                self.renewals.changed(renewal, newest, revive_time)
            else:
                is_final = answer.code.error is Refused
                self.renewals.failed(renewal, now, is_final=is_final)

        place = (renewal.key[1], renewal.topic)
        self._ask_change(Asker(renewal.channel), place, handle.receipt, invisible_ms, now, changed)

    @contextmanager
    def _ending(self, client: GrpcClient, key: RenewalKey, then: Then) -> Iterator[Then]:
        """While a client is done with a message, it is not renewed; if that is refused, here or by
        the broker, it goes on: a client tries again, and any peer can name another client."""
        renewal = self.renewals.take(key)

        def go_on() -> None:
            if renewal is not None and not client.is_gone:
                self.renewals.add(renewal)

        def heard(answer: Answer) -> None:
            if answer.code is not ResponseCode.SUCCESS:
                go_on()
            then(answer)

        try:
            yield heard
        except CallRefused:
            go_on()
            raise

    def _with_newest(
        self,
        named: _Named,
        act: Callable[[RenewalKey, ReceiptHandle], None],
        refuse: Callable[[Status], None],
    ) -> None:
        """Call `act` with the newest handle of a message when it is known; CallRefused, here or in
        it, goes to `refuse`."""
        client, group, message_id, text = named

        def go_on() -> None:
            renewal = self.renewals.find(key)
            try:
                act(key, said if renewal is None else ReceiptHandle(renewal.handle))
            except CallRefused as refusal:
                refuse(refusal.status)

        try:
            said = ReceiptHandle(text)
        except CallRefused as refusal:
            refuse(refusal.status)
            return
        key = _key(client, group, message_id, said.receipt)
        self.renewals.when_known(self.renewals.find(key), go_on)


class _AckAnswers:
    """Collects the results of one request, and answers it with the last."""

    def __init__(self, call: OpenCall, entries: list[AckMessageEntry]) -> None:
        self._call = call
        self._entries = entries
        self._statuses: list[Status | None] = [None] * len(entries)
        self._left = len(entries)

    def adding(self, index: int) -> Callable[[Status], None]:
        return lambda status: self.add(index, status)

    def add(self, index: int, status: Status) -> None:
        self._statuses[index] = status
        self._left -= 1
        if self._left == 0:
            statuses = [one for one in self._statuses if one is not None]
            results = [
                AckMessageResultEntry(entry.message_id, entry.receipt_handle, one)
                for entry, one in zip(self._entries, statuses, strict=True)
            ]
            self._call.answer(AckMessageResponse(common_status(statuses), results))


def _key(client: GrpcClient, group: str, message_id: str, receipt: PopReceipt) -> RenewalKey:
    return (client.id, group, message_id, receipt.queue_id, receipt.queue_offset)


def _changed_handle(handle: ReceiptHandle, answer: Answer) -> str:
    """The handle after a change: a checkpoint of its own, so it starts at the message."""
    said = read_header(InvisibleTimeAnswerHeader, answer.fields or {})
    old = handle.receipt
    receipt = PopReceipt(
        old.start_offset if old.is_orderly else old.queue_offset,
        said.pop_time,
        said.invisible_time,
        said.revive_qid,
        old.origin,
        old.broker_name,
        old.queue_id,
        old.queue_offset,
    )
    text = encode_pop_receipt(receipt)
    return text if handle.log_offset is None else f"{text} {handle.log_offset}"


def _refuse_change(
    call: OpenCall, request: ChangeInvisibleDurationRequest | None, status: Status, now: Now
) -> None:
    handle = "" if request is None else request.receipt_handle
    call.answer(ChangeInvisibleDurationResponse(status, handle))


def _nobody_waits(answer: Answer) -> None:
    """The outcome changes nothing: if it failed, the message comes back by itself."""
