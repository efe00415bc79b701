"""Transactions that are open: which there are, and ending one by hand.

Only our brokers can list them. To commit what its producer would have rolled back, or the other way
round, is a decision of whoever asks for it.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from aerobee.client.admin.asking import Asking, Where
from aerobee.model.flags import TransactionType
from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.bodies.open_transactions import (
    NO_MORE,
    OpenTransaction,
    decode_open_transactions,
)
from aerobee.protocol.headers.transactions import (
    EndTransactionHeader,
    OpenTransactionsHeader,
    ResumeCheckHeader,
)
from aerobee.protocol.request_codes import RequestCode


@dataclass(frozen=True, slots=True)
class HeldTransaction:
    """An open transaction, and the broker that has it."""

    broker: str
    """By its name, or by its address where only that is known."""
    facts: OpenTransaction


class TransactionAdmin:
    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    async def count(self, *, on: Where = None) -> dict[str, int]:
        """By broker, how many are open."""
        code = RequestCode.LIST_OPEN_TRANSACTIONS
        answers = await self._asking.on_masters(on, code, OpenTransactionsHeader(max_num=1))
        return {
            name: decode_open_transactions(bytes(one.body)).open_count
            for name, one in answers.items()
        }

    async def open(self, *, group: str = "", on: Where = None) -> AsyncIterator[HeldTransaction]:
        """Every one that is open, of a producer group or of all, broker after broker."""
        code = RequestCode.LIST_OPEN_TRANSACTIONS
        for name, address in (await self._asking.masters(on)).items():
            offset = 0
            while offset != NO_MORE:
                header = OpenTransactionsHeader(group, offset)
                answer = await self._asking.broker(address, code, header)
                page = decode_open_transactions(bytes(answer.body))
                for one in page.transactions:
                    yield HeldTransaction(name, one)
                offset = page.next_offset

    async def commit(self, held: HeldTransaction) -> None:
        await self._end(held, TransactionType.COMMIT)

    async def rollback(self, held: HeldTransaction) -> None:
        await self._end(held, TransactionType.ROLLBACK)

    async def check_again(self, offset_message_id: str, *, on: str = "") -> None:
        """Have the producers asked once more about one that was given up. Its broker is found by
        the id, unless it is named."""
        place = parse_offset_message_id(offset_message_id)
        address = await self._asking.master(on or f"{place.address}:{place.port}")
        code = RequestCode.RESUME_CHECK_HALF_MESSAGE
        await self._asking.broker(address, code, ResumeCheckHeader(offset_message_id))

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
        address = await self._asking.master(held.broker)
        await self._asking.broker(address, RequestCode.END_TRANSACTION, header)
