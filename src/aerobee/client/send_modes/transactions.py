"""`Transactions` sends transactional messages: visible once a local transaction succeeded, or
never.

    async with client.transaction("orders", b"{}", check=is_stored, group="order-tx"):
        await database.commit_order()            # an exception: the message is never delivered

A half message goes first, which no consumer sees; the end of the block commits it or rolls it back.
If the process dies in between, or the task is cancelled, the transaction stays open: brokers then
check with any client that registered the group's check function. So a check looks into the
database, not into a variable.

T1. No end is sent to a broker for a transaction whose outcome is not known here.
T2. One check of a message is answered at a time, however often brokers ask.

Imports more than 15 modules because it both asks brokers and is asked by them.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, cast

from aerobee.client.api.message import Message
from aerobee.client.connection.session import Session
from aerobee.client.core.namespace import with_namespace
from aerobee.client.core.send.outgoing import Draft
from aerobee.client.send.delivery import RETRIES, Delivery, Sent
from aerobee.client.send_modes.trace_sender import trace_end
from aerobee.errors import ConnectionLost, Misuse, NoAnswer, Refused, Retriable
from aerobee.model.flags import TransactionType
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.properties import PRODUCER_GROUP, TRANSACTION_PREPARED
from aerobee.net.line import Line
from aerobee.protocol.headers.transactions import CheckTransactionHeader, EndTransactionHeader
from aerobee.protocol.message.received_message import MessageReader
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import error_for

_log = logging.getLogger(__name__)

CHECKS_AT_ONCE = 32

Outcome = bool | None
"""Whether a transaction has succeeded; None: that is not known yet."""
Check = Callable[[Message], Outcome | Awaitable[Outcome]]


class Transactions:
    """The transactions of one client, and the checks of its groups."""

    def __init__(self, session: Session, delivery: Delivery) -> None:
        self._session = session
        self._delivery = delivery
        self._checks: dict[str, Check] = {}
        self._asked: set[str] = set()
        self._turn = asyncio.Semaphore(CHECKS_AT_ONCE)

    async def join(self, group: str, check: Check | None, topic: str) -> str:
        """Answer checks for this group from the brokers that have this topic; returns the group's
        name on the wire.
        """
        self._session.check()
        name = with_namespace(self._session.options.namespace, group)
        is_new = name not in self._checks
        if check is None and is_new:
            raise Misuse(
                f"nobody can say what became of transactions of {group!r}",
                hint="give check=, a function that looks whether the local part has succeeded",
            )
        if check is not None:
            if not self._checks:
                self._session.dispatch.add(RequestCode.CHECK_TRANSACTION_STATE, self._question)
            self._checks[name] = check
        await self._session.routes.of(topic, may_be_new=True)
        if is_new:
            await self._session.members.produce(name)
        return name

    async def send_half(
        self, draft: Draft, group: str, *, queue: MessageQueue | None, timeout: float | None
    ) -> Sent:
        draft.properties[TRANSACTION_PREPARED] = "true"
        draft.properties[PRODUCER_GROUP] = group
        draft.sys_flag |= TransactionType.PREPARED
        return await self._delivery.deliver(
            draft, group=group, queue=queue, timeout=timeout, retries=RETRIES
        )

    async def end(self, group: str, draft: Draft, sent: Sent, kind: TransactionType) -> None:
        """Tell the broker commit or rollback. A broker that does not answer will check later."""
        header = EndTransactionHeader(
            group,
            sent.said.queue_offset,
            parse_offset_message_id(sent.said.message_ids).log_offset,
            kind,
            message_id=draft.unique_id,
            transaction_id=sent.said.transaction_id or draft.unique_id,
            topic=draft.topic,
            broker_name=sent.queue.broker_name,
        )
        route = await self._session.routes.of(draft.topic, may_be_new=True)
        address = route.master_of(sent.queue)
        try:
            if address is None:
                raise NoAnswer("its broker has gone", address=sent.queue.broker_name)
            answer = await self._session.ask(
                address,
                RemotingCommand(int(RequestCode.END_TRANSACTION), ext_fields=write_header(header)),
            )
            error = error_for(answer.code, answer.remark)
            if error is not None:
                raise error
            trace_end(self._session, header, draft.properties, address)
        except (NoAnswer, Retriable) as error:
            _log.warning("%s stays open until its broker asks: %s", draft.unique_id, error)
        except Refused as error:
            raise Refused(
                f"the end of the transaction {draft.unique_id} was refused: {error.message}",
                code=error.code,
                hint="the local part stands; its broker may still ask, and then the check decides",
            ) from None

    # Questions.

    def _question(self, line: Line, command: RemotingCommand) -> bool:
        header = read_header(CheckTransactionHeader, command.ext_fields)
        queue = MessageQueue(header.topic, header.broker_name, QueueId(0))
        reader = MessageReader(Message, prefix=_prefix(self._session.options.namespace))
        message = cast("Message", reader.read(bytes(command.body), queue, None)[0])
        group = message.properties.get(PRODUCER_GROUP, "")
        check = self._checks.get(group)
        if check is None:
            return False
        if header.transaction_id not in self._asked:
            self._asked.add(header.transaction_id)
            answering = self._answer(line, header, group, check, message)
            self._session.spawn(answering, f"the check of {header.transaction_id}")
        return True

    async def _answer(
        self,
        line: Line,
        header: CheckTransactionHeader,
        group: str,
        check: Check,
        message: Message,
    ) -> None:
        try:
            async with self._turn:
                outcome = check(message)
                if inspect.isawaitable(outcome):
                    outcome = await outcome
            if outcome is None:
                return
            kind = TransactionType.COMMIT if outcome else TransactionType.ROLLBACK
            end = EndTransactionHeader(
                group,
                header.tran_state_table_offset,
                header.commit_log_offset,
                kind,
                from_transaction_check=True,
                message_id=header.message_id,
                transaction_id=header.transaction_id,
                topic=message.topic,
                broker_name=header.broker_name,
            )
            command = RemotingCommand(
                int(RequestCode.END_TRANSACTION), flag=ONEWAY_FLAG, ext_fields=write_header(end)
            )
            self._session.connections.dress(command, line)
            line.tell(command)
            trace_end(self._session, end, message.properties, line.address)
        except ConnectionLost as error:
            _log.info("the answer to a check was not sent, it will come again: %s", error)
        finally:
            self._asked.discard(header.transaction_id)


class Transaction:
    """The context manager of `client.transaction(...)`. After its end every call is Misuse."""

    def __init__(
        self,
        transactions: Transactions,
        draft: Draft,
        group: str,
        check: Check | None,
        *,
        queue: MessageQueue | None,
        timeout: float | None,
    ) -> None:
        self._transactions = transactions
        self._draft = draft
        self._group = group
        self._check = check
        self._queue = queue
        self._timeout = timeout
        self._sent: Sent | None = None
        self._is_over = False

    @property
    def message_id(self) -> str:
        """The id that consumers will see, and that the check is asked about."""
        return self._draft.unique_id

    async def commit(self) -> None:
        """Make the message visible."""
        await self._end(TransactionType.COMMIT)

    async def roll_back(self) -> None:
        """Discard the message."""
        await self._end(TransactionType.ROLLBACK)

    def leave_open(self) -> None:
        """Send no outcome: the broker will check, and the check function decides."""
        self._checked()
        self._is_over = True

    async def __aenter__(self) -> Self:
        if self._sent is not None:
            raise Misuse("a transaction begins once")
        self._group = await self._transactions.join(self._group, self._check, self._draft.topic)
        self._sent = await self._transactions.send_half(
            self._draft, self._group, queue=self._queue, timeout=self._timeout
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_over:
            return
        if error is None:
            await self.commit()
        elif isinstance(error, Exception):
            await self.roll_back()
        # Else it was cancelled: whether the local part has succeeded is not known here.

    async def _end(self, kind: TransactionType) -> None:
        sent = self._checked()
        self._is_over = True
        await self._transactions.end(self._group, self._draft, sent, kind)

    def _checked(self) -> Sent:
        if self._sent is None or self._is_over:
            raise Misuse("the transaction has not begun, or it is over")
        return self._sent

    def __repr__(self) -> str:
        state = "over" if self._is_over else "open" if self._sent else "not begun"
        return f"<Transaction {self.message_id} for {self._draft.topic}, {state}>"


def _prefix(namespace: str) -> str:
    return f"{namespace}%" if namespace else ""
