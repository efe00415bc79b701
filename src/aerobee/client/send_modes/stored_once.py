"""`StoredOnce` sends messages that are stored once, however often they are tried:
`dedup="producer-id"`.

    queue chosen ─▶ its broker opened, once ─▶ number taken ─▶ tried there until it is answered

The number belongs to a queue, so a send stays with its queue: if the answer is lost the same is
sent again, and the broker stores nothing twice. While that broker does not answer, the send fails.

Only Aerobee's brokers support this: with others the send is refused before anything is sent. Of two
clients with one producer id the later one counts; the other is refused from then on.

Imports more than 15 modules because it numbers, opens and sends.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Unpack

from aerobee.client.api.client_options import Duration, seconds_of
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Draft, batch_of
from aerobee.client.core.send.producer_sequences import ProducerSequences
from aerobee.client.core.send.send_tries import SendTries
from aerobee.client.send.delivery import Sent
from aerobee.client.send.drafts import BatchKeywords, TimedKeywords, batch_options
from aerobee.client.send.producer import SendAll
from aerobee.client.send.sender import Sender
from aerobee.errors import Misuse, NoAnswer, Refused, RemoteAnswer, Retriable, SendFailed, Stored
from aerobee.model.message_queue import MessageQueue
from aerobee.model.properties import PRODUCER_MARK
from aerobee.protocol.bodies.producer_sequences import decode_last_sequences
from aerobee.protocol.headers.producing_once import OpenedProducerHeader, OpenProducerHeader
from aerobee.protocol.message.producer_mark import (
    KNOWN,
    PRODUCER_CHARS_MAX,
    encode_mark,
    is_producer_id,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

_ROOM = "x" * 200  # no mark is longer: a batch is cut before its numbers are known
_NOT_COUNTED = "a send that is stored once is tried until its timeout, not so many times"
TRIES_MAX = 1_000_000  # the deadline ends them: each is harmless


class StoredOnce:
    """Deduplicated sends of all producer ids of one client."""

    def __init__(self, session: Session, sending: Sender) -> None:
        self._session = session
        self._sending = sending
        self._delivery = sending.delivery
        self._producers: dict[str, ProducerSequences] = {}
        self._opening: dict[tuple[str, str, str], asyncio.Task[None]] = {}

    async def send(
        self,
        producer: str,
        topic: str,
        body: object,
        *,
        group: str | None = None,
        queue: MessageQueue | None = None,
        timeout: Duration | None = None,
        retries: int | None = None,
        **said: Unpack[TimedKeywords],
    ) -> Receipt:
        if retries is not None:
            raise Misuse(_NOT_COUNTED)
        if queue is not None and said.get("priority") is not None:
            raise Misuse("queue and priority contradict each other", hint="give one of them")
        draft = self._sending.drafts.draft(topic, body, **said)
        seconds = None if timeout is None else seconds_of(timeout, "timeout")
        sent = await self.deliver(producer, [draft], group=group, queue=queue, timeout=seconds)
        return self._sending.receipt(draft, sent)

    async def send_batch(
        self,
        producer: str,
        topic: str,
        messages: Iterable[object],
        **said: Unpack[BatchKeywords],
    ) -> Sequence[Receipt]:
        if "retries" in said:
            raise Misuse(_NOT_COUNTED)
        options = batch_options(topic, self._session.options.timeout, **said)
        one = self._sending.batches.one
        drafts = [one(topic, message, options.order_by, options.codec) for message in messages]
        for draft in drafts:
            draft.properties[PRODUCER_MARK] = _ROOM

        async def deliver(part: Sequence[Draft]) -> Sent:
            return await self.deliver(
                producer,
                part,
                order_by=options.order_by,
                group=options.group,
                queue=options.queue,
                timeout=options.seconds,
            )

        return await self._sending.batches.send_drafts(drafts, deliver)

    def sender(
        self, producer: str, topic: str, *, group: str | None, timeout: Duration | None
    ) -> SendAll:
        """The function by which a producer sends batches under a producer id."""

        async def send_all(
            messages: Sequence[object], queue: MessageQueue | None
        ) -> Sequence[Receipt]:
            return await self.send_batch(
                producer, topic, messages, group=group, queue=queue, timeout=timeout
            )

        self._sequences(producer)  # Misuse now, not with the first batch
        return send_all

    async def deliver(
        self,
        producer: str,
        drafts: Sequence[Draft],
        *,
        order_by: str | None = None,
        group: str | None = None,
        queue: MessageQueue | None = None,
        timeout: float | None = None,
    ) -> Sent:
        """Have messages stored in one queue, each of them once. SendFailed as for any send."""
        self._session.check()
        sequences = self._sequences(producer)
        seconds = self._session.options.timeout if timeout is None else timeout
        deadline = asyncio.get_running_loop().time() + seconds
        chosen = await self._delivery.queue_for(drafts[0], queue=queue, seconds=seconds)
        while True:
            await self._open_in_time(sequences, chosen, deadline)
            draft = _marked(drafts, sequences, chosen, order_by)
            left = deadline - asyncio.get_running_loop().time()
            try:
                sent = await self._delivery.deliver(
                    draft, group=group, queue=chosen, timeout=left, retries=TRIES_MAX
                )
            except SendFailed as failure:
                if not self._may_begin_anew(failure, sequences, chosen, left):
                    raise
            else:
                sequences.acknowledged(chosen)
                return sent

    def _sequences(self, producer: str) -> ProducerSequences:
        found = self._producers.get(producer)
        if found is None:
            if not is_producer_id(producer):
                raise Misuse(
                    f"the producer id {producer!r}",
                    hint=f"1 to {PRODUCER_CHARS_MAX} printable ASCII characters without a space",
                )
            found = self._producers[producer] = ProducerSequences(producer)
        return found

    def _may_begin_anew(
        self,
        failure: SendFailed,
        sequences: ProducerSequences,
        queue: MessageQueue,
        seconds_left: float,
    ) -> bool:
        """Whether the broker has forgotten this producer, and this message was never sent to it."""
        cause = failure.__cause__
        code = cause.code if isinstance(cause, RemoteAnswer) else 0
        if code == ResponseCode.PRODUCER_FENCED:
            raise SendFailed(
                f"another client sends as {sequences.producer!r} by now: {failure.message}",
                stored=Stored.NO if len(failure.attempts) == 1 else Stored.UNKNOWN,
                attempts=failure.attempts,
                hint="give each client an id of its own; the later of two counts",
            ) from failure
        if code != ResponseCode.PRODUCER_FORGOTTEN:
            return False
        sequences.forget(queue.broker_name)
        return len(failure.attempts) == 1 and seconds_left > 0

    async def _open_in_time(
        self, sequences: ProducerSequences, queue: MessageQueue, deadline: float
    ) -> None:
        """Open with retries: nothing of the message was sent yet."""
        now = asyncio.get_running_loop().time
        tries = SendTries(queue.topic, retries=TRIES_MAX, deadline=deadline)
        while not sequences.is_open(queue.broker_name, queue.topic):
            try:
                await self._open(sequences, queue)
            except (NoAnswer, Retriable) as error:
                if not tries.note(queue.broker_name, error, now()):
                    raise SendFailed(
                        f"{queue.broker_name} could not be told who sends: {error.message}",
                        stored=Stored.NO,
                        hint=error.hint,
                    ) from error
                await asyncio.sleep(tries.pause(queue.broker_name, now()))

    async def _open(self, sequences: ProducerSequences, queue: MessageQueue) -> None:
        """Register the producer id with the queue's broker. Concurrent sends wait for the same
        answer.
        """
        if sequences.is_open(queue.broker_name, queue.topic):
            return
        # By broker alone: a second topic is opened with the epoch that the first was given.
        key = (sequences.producer, queue.broker_name, "")
        while not sequences.is_open(queue.broker_name, queue.topic):
            opening = self._opening.get(key)
            if opening is None:
                opening = asyncio.get_running_loop().create_task(self._ask(sequences, queue))
                self._opening[key] = opening
                opening.add_done_callback(lambda _: self._opening.pop(key, None))
            await asyncio.shield(opening)

    async def _ask(self, sequences: ProducerSequences, queue: MessageQueue) -> None:
        route = await self._session.routes.of(queue.topic, may_be_new=True)
        address = route.physical("dedup=").master(queue.broker_name)
        if address is None:
            raise Misuse(f"no master of {queue.broker_name} is known")
        epoch = sequences.epoch(queue.broker_name)
        header = OpenProducerHeader(sequences.producer, queue.topic, epoch)
        answer = await self._session.ask(
            address,
            RemotingCommand(int(RequestCode.OPEN_PRODUCER), ext_fields=write_header(header)),
        )
        if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            raise Refused(
                f"the broker {queue.broker_name} at {address} remembers no producers",
                code=answer.code,
                hint="dedup= needs an Aerobee broker; Apache's stores every retry",
            )
        error = error_for(answer.code, answer.remark)
        if error is not None:
            raise error
        opened = read_header(OpenedProducerHeader, answer.ext_fields)
        last = decode_last_sequences(bytes(answer.body))
        sequences.opened(queue.broker_name, queue.topic, opened.epoch, last)


def _marked(
    drafts: Sequence[Draft], sequences: ProducerSequences, queue: MessageQueue, order_by: str | None
) -> Draft:
    """The draft to send: the message, or all of them as a batch, each with its mark."""
    mark = sequences.take(queue, len(drafts))
    for index, draft in enumerate(drafts):
        draft.properties[PRODUCER_MARK] = encode_mark(mark.next(index))
    sent = drafts[0] if len(drafts) == 1 else batch_of(drafts, order_by)
    sent.code = int(RequestCode.SEND_ONCE)
    sent.fields = {KNOWN: str(sequences.is_known(queue)).lower()}
    return sent
