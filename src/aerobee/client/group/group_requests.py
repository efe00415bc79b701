"""`GroupRequests` sends the requests that a consumer makes for its group, one method for each.

All names are as on the wire. A broker is found by the route of its topic; a broker that no route
names any more is Unreachable.
"""

import asyncio
from collections.abc import Iterable

from aerobee.client.connection.remote_call import Answer, ask, ask_well, checked, tell
from aerobee.client.connection.session import Session
from aerobee.errors import AerobeeError, NoAnswer, Refused, Unreachable
from aerobee.model.message_queue import MessageQueue
from aerobee.model.route import MASTER_ID
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.connections import decode_client_ids
from aerobee.protocol.bodies.locks import LockRequest, decode_locked, encode_lock_request
from aerobee.protocol.bodies.subscription import SubscriptionCheck, encode_subscription_check
from aerobee.protocol.headers.clients import ConsumerGroupHeader
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    OffsetAnswerHeader,
    QueryOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
)
from aerobee.protocol.headers.sending_back import SendBackHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

LOCK_SECONDS = 1.0
SEND_BACK_SECONDS = 5.0


class GroupRequests:
    def __init__(self, session: Session, group: str) -> None:
        self.group = group
        self._session = session

    async def address(
        self,
        topic: str,
        broker_name: str,
        broker_id: int = MASTER_ID,
        *,
        is_reading: bool = False,
    ) -> str:
        """The address of a broker by the route, which is fetched again if it does not name it.
        `is_reading`: a slave will do as well, while the master does not answer.
        """
        routes, silent = self._session.routes, self._session.silent
        now_ms = self._session.clock.monotonic_ms
        avoided = silent.avoided(now_ms()) if is_reading and silent else ()
        route = routes.find(topic) or await routes.refresh(topic)
        found = route.address(broker_name, broker_id, avoided)
        if found is None:
            found = (await routes.refresh(topic)).address(broker_name, broker_id, avoided)
        if found is None:
            raise Unreachable(
                f"no broker {broker_name} has the topic {topic}",
                address=broker_name,
                hint="it has left the cluster, or lost its name servers",
            )
        return found

    async def address_of(
        self, queue: MessageQueue, broker_id: int = MASTER_ID, *, is_reading: bool = False
    ) -> str:
        """The address of the broker of a queue, also of a logical one."""
        return await self.address(
            queue.topic, await self._holder(queue), broker_id, is_reading=is_reading
        )

    async def _holder(self, queue: MessageQueue) -> str:
        routes = self._session.routes
        route = routes.find(queue.topic) or await routes.refresh(queue.topic)
        return route.holder(queue)

    async def check_filter(self, subscription: Subscription) -> None:
        """Raise Refused if a broker of the topic cannot filter so. A broker that does not answer,
        or does not know the request, is ignored.
        """
        route = self._session.routes.find(subscription.topic)
        body = encode_subscription_check(
            SubscriptionCheck(self.group, subscription), self._session.client_id
        )
        for name in () if route is None else sorted(route.brokers):
            try:
                address = await self.address(subscription.topic, name)
                answer = await ask(
                    self._session, address, RequestCode.CHECK_CLIENT_CONFIG, body=body
                )
            except NoAnswer:
                continue
            if answer.code not in (ResponseCode.SUCCESS, ResponseCode.REQUEST_CODE_NOT_SUPPORTED):
                raise Refused(
                    f"{name} cannot filter {subscription.topic} by {subscription.expression!r}: "
                    f"{answer.remark}",
                    code=answer.code,
                    hint="mend the expression"
                    if answer.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED
                    else "set enablePropertyFilter=true of the broker, or filter by tags",
                )

    async def members(self, topic: str) -> tuple[str, ...] | None:
        """The ids of all clients of the group; None: no broker of the topic can say."""
        route = self._session.routes.find(topic)
        brokers = () if route is None else route.brokers.values()
        addresses = [broker.addresses[number] for broker in brokers for number in broker.addresses]
        masters = {broker.addresses.get(MASTER_ID) for broker in brokers}
        for address in sorted(addresses, key=lambda one: one not in masters):
            try:
                answer = await ask(
                    self._session,
                    address,
                    RequestCode.GET_CONSUMER_LIST_BY_GROUP,
                    ConsumerGroupHeader(self.group),
                )
            except AerobeeError:
                continue
            if answer.code == ResponseCode.SUCCESS:
                return decode_client_ids(bytes(answer.body))
        return None

    async def committed(self, queue: MessageQueue, *, is_exact: bool = False) -> int | None:
        """The committed offset of the group in a queue; None: there is none. `is_exact`: also None
        where a broker would answer 0 for a new group because the queue is young.
        """
        answer = await ask(
            self._session,
            await self.address_of(queue, is_reading=True),
            RequestCode.QUERY_CONSUMER_OFFSET,
            QueryOffsetHeader(self.group, queue.topic, queue.queue_id, not is_exact),
        )
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        return _offset(answer)

    async def commit(self, queue: MessageQueue, offset: int, *, is_certain: bool = False) -> None:
        """Commit the group's offset in a queue. `is_certain`: wait for the answer. A slave takes
        it for its master while that does not answer.
        """
        address = await self.address_of(queue, is_reading=True)
        header = CommitOffsetHeader(self.group, queue.topic, queue.queue_id, offset)
        code = RequestCode.UPDATE_CONSUMER_OFFSET
        if is_certain:
            await ask_well(self._session, address, code, header)
        else:
            await tell(self._session, address, code, header)

    async def end_of(self, queue: MessageQueue) -> int:
        return await self._offset(
            queue, RequestCode.GET_MAX_OFFSET, MaxOffsetHeader(queue.topic, queue.queue_id)
        )

    async def beginning_of(self, queue: MessageQueue) -> int:
        return await self._offset(
            queue, RequestCode.GET_MIN_OFFSET, QueueHeader(queue.topic, queue.queue_id)
        )

    async def offset_at(self, queue: MessageQueue, moment_ms: int) -> int:
        """The offset of the first message that was stored then or later."""
        return await self._offset(
            queue,
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
            SearchOffsetHeader(queue.topic, queue.queue_id, moment_ms),
        )

    async def lock(self, queues: Iterable[MessageQueue]) -> frozenset[MessageQueue]:
        """The queues, of these, that this client has locked now. A broker that does not answer
        locks none.
        """
        granted = await asyncio.gather(
            *(self._lock(name, own) for name, own in (await self._by_broker(queues)).items())
        )
        return frozenset().union(*granted)

    async def unlock(self, queues: Iterable[MessageQueue]) -> None:
        """Release locks. Where that fails they expire by themselves."""
        for name, own in (await self._by_broker(queues)).items():
            try:
                await self._lock_request(RequestCode.UNLOCK_BATCH_MQ, name, own)
            except AerobeeError:
                continue

    async def send_back(
        self,
        queue: MessageQueue,
        log_offset: int,
        *,
        level: int,
        max_attempts: int,
        message_id: str,
        topic: str,
        reason: str = "",
    ) -> None:
        """Have a message delivered again after the delay of a level; with a negative level, make it
        a dead letter, with the reason if the broker keeps one.
        """
        header = SendBackHeader(
            log_offset,
            self.group,
            level,
            message_id,
            topic,
            max_reconsume_times=max_attempts,
            broker_name=queue.broker_name,
            reason=reason or None,
        )
        route = self._session.routes.find(queue.topic)
        keeper = route.keeper(queue, message_id) if route is not None else None
        await ask_well(
            self._session,
            keeper or await self.address_of(queue),
            RequestCode.CONSUMER_SEND_MSG_BACK,
            header,
            seconds=SEND_BACK_SECONDS,
        )

    async def _offset(self, queue: MessageQueue, code: RequestCode, header: object) -> int:
        address = await self.address_of(queue, is_reading=True)
        return _offset(await ask(self._session, address, code, header))

    async def _by_broker(self, queues: Iterable[MessageQueue]) -> dict[str, list[MessageQueue]]:
        found: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            found.setdefault(await self._holder(queue), []).append(queue)
        return found

    async def _lock(self, broker_name: str, queues: list[MessageQueue]) -> set[MessageQueue]:
        try:
            answer = await self._lock_request(RequestCode.LOCK_BATCH_MQ, broker_name, queues)
        except AerobeeError:
            return set()
        return set(decode_locked(bytes(answer.body))) & set(queues)

    async def _lock_request(
        self, code: RequestCode, broker_name: str, queues: list[MessageQueue]
    ) -> Answer:
        request = LockRequest(self._session.client_id, self.group, tuple(queues))
        return await ask_well(
            self._session,
            await self.address(queues[0].topic, broker_name),
            code,
            body=encode_lock_request(request),
            seconds=LOCK_SECONDS,
        )


def _offset(answer: Answer) -> int:
    return read_header(OffsetAnswerHeader, checked(answer).ext_fields).offset
