"""`TransactionAdmin` lists open transactions, ends one by hand, and lists those that were given up.

Only Aerobee's brokers can list open transactions. Ending one by hand overrides its producer: it may
commit a message that the producer would have rolled back, or the other way round.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.client.admin.queues import QueueAdmin
from aerobee.errors import RemoteAnswer
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import TRANSACTION_GIVEN_UP_TOPIC
from aerobee.protocol.bodies.open_transactions import (
    NO_MORE,
    OpenTransaction,
    decode_open_transactions,
)
from aerobee.protocol.headers.topics import TopicHeader
from aerobee.protocol.headers.transactions import (
    EndTransactionHeader,
    OpenTransactionsHeader,
    ResumeCheckHeader,
)
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode


@dataclass(frozen=True, slots=True)
class HeldTransaction:
    """An open transaction, and the broker that holds its half message."""

    broker: str
    """By its name, or by its address where only that is known."""
    facts: OpenTransaction


class TransactionAdmin:
    def __init__(self, fan_out: FanOut, queues: QueueAdmin) -> None:
        self._fan_out = fan_out
        self._queues = queues

    async def count(self, *, on: Where = None) -> dict[str, int]:
        """The number of open transactions, by broker."""
        code = RequestCode.LIST_OPEN_TRANSACTIONS
        answers = await self._fan_out.on_masters(on, code, OpenTransactionsHeader(max_num=1))
        return {
            name: decode_open_transactions(bytes(one.body)).open_count
            for name, one in answers.items()
        }

    async def open(self, *, group: str = "", on: Where = None) -> AsyncIterator[HeldTransaction]:
        """Open transactions of a producer group or of all, broker after broker."""
        code = RequestCode.LIST_OPEN_TRANSACTIONS
        for name, address in (await self._fan_out.masters(on)).items():
            offset = 0
            while offset != NO_MORE:
                header = OpenTransactionsHeader(group, offset)
                answer = await self._fan_out.broker(address, code, header)
                page = decode_open_transactions(bytes(answer.body))
                for one in page.transactions:
                    yield HeldTransaction(name, one)
                offset = page.next_offset

    async def given_up(self, *, on: Where = None) -> AsyncIterator[StoredMessage]:
        """Transactions that brokers have stopped checking, broker after broker.

        Brokers are asked directly, not by a route: a name server learns of the topic only a moment
        after the first transaction was given up, and none is to be missed until then.
        """
        for name, address in (await self._fan_out.masters(on)).items():
            if await self._has_given_up(address):
                queue = MessageQueue(TRANSACTION_GIVEN_UP_TOPIC, name, QueueId(0))
                async for message in self._queues.read(queue):
                    yield message

    async def commit(self, held: HeldTransaction) -> None:
        await self._end(held, TransactionType.COMMIT)

    async def rollback(self, held: HeldTransaction) -> None:
        await self._end(held, TransactionType.ROLLBACK)

    async def check_again(self, offset_message_id: str, *, on: str = "") -> None:
        """Have the producers checked once more about a transaction that was given up. Its broker is
        found by the id, unless it is named.
        """
        place = parse_offset_message_id(offset_message_id)
        address = await self._fan_out.master(on or f"{place.address}:{place.port}")
        code = RequestCode.RESUME_CHECK_HALF_MESSAGE
        await self._fan_out.broker(address, code, ResumeCheckHeader(offset_message_id))

    async def _has_given_up(self, address: str) -> bool:
        """Whether a broker ever gave one up: its topic, of one queue, is created with the first."""
        header = TopicHeader(TRANSACTION_GIVEN_UP_TOPIC)
        try:
            await self._fan_out.broker(address, RequestCode.GET_TOPIC_CONFIG, header)
        except RemoteAnswer as refusal:
            if refusal.code == ResponseCode.TOPIC_NOT_EXIST:
                return False
            # A broker before 5.0 cannot say: its queue can, which is empty where there is none.
            if refusal.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                raise
        return True

    async def _end(self, held: HeldTransaction, how: TransactionType) -> None:
        facts = held.facts
        header = EndTransactionHeader(
            facts.group,
            facts.queue_offset,
            facts.commit_log_offset,
            int(how),
            True,
            facts.message_id,
            facts.message_id,
            facts.topic,
        )
        address = await self._fan_out.master(held.broker)
        await self._fan_out.broker(address, RequestCode.END_TRANSACTION, header)
