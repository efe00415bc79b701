"""`BrokerQuestions` answers the requests that brokers send to a consumer.

40   members came or went: rebalance
220  an administrator has reset offsets: go on there
221  the offsets of the queues that this consumer owns
307  the running info of this consumer, on request with the stack of each task
309  consume this one message now, and report the result
"""

import asyncio
import logging

from aerobee.client.connection.remote_call import Asked, answer_well
from aerobee.client.connection.session import Session
from aerobee.client.consumer.member import Member
from aerobee.client.group.direct_message import DirectMessage
from aerobee.client.group.inbox import Inbox
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.net.line import Line
from aerobee.protocol.bodies.group_offsets import decode_reset_offsets, encode_client_status
from aerobee.protocol.bodies.running_info import (
    CONSUME_MODE,
    PAUSED_QUEUES,
    QueueInHand,
    RunningInfo,
    encode_consume_result,
    encode_running_info,
)
from aerobee.protocol.headers.clients import ConsumerGroupHeader
from aerobee.protocol.headers.group_status import (
    ConsumeDirectlyHeader,
    GroupTopicHeader,
    RunningInfoHeader,
)
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode

_log = logging.getLogger(__name__)


class BrokerQuestions:
    def __init__(self, session: Session, member: Member, inbox: Inbox) -> None:
        self._session = session
        self._member = member
        self._inbox = inbox
        self._started_ms = session.clock.now().wall_ms
        self._handlers = {
            RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: self._members_changed,
            RequestCode.RESET_CONSUMER_CLIENT_OFFSET: self._reset,
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: self._status,
            RequestCode.GET_CONSUMER_RUNNING_INFO: self._running_info,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: self._consume_directly,
        }

    def begin(self) -> None:
        for code, handler in self._handlers.items():
            self._session.dispatch.add(code, handler)

    def end(self) -> None:
        for code, handler in self._handlers.items():
            self._session.dispatch.remove(code, handler)

    def _members_changed(self, line: Line, command: Asked) -> bool:
        if read_header(ConsumerGroupHeader, command.ext_fields).consumer_group != self._group:
            return False
        self._member.wake()
        return True

    def _reset(self, line: Line, command: Asked) -> bool:
        if read_header(GroupTopicHeader, command.ext_fields).group != self._group:
            return False
        offsets = decode_reset_offsets(bytes(command.body))
        self._session.spawn(self._seek_all(offsets), f"a reset of {self._group}")
        return True

    async def _seek_all(self, offsets: dict[MessageQueue, int]) -> None:
        for queue, offset in offsets.items():
            _log.warning("%s goes on at offset %d: an administrator has reset it", queue, offset)
            await self._member.queues.seek(queue, offset)

    def _status(self, line: Line, command: Asked) -> bool:
        header = read_header(GroupTopicHeader, command.ext_fields)
        if header.group != self._group:
            return False
        offsets = {
            owned.queue: owned.in_hand.commit_offset()
            for owned in self._member.queues.all()
            if owned.queue.topic == header.topic
        }
        answer_well(line, command, encode_client_status(offsets))
        return True

    def _running_info(self, line: Line, command: Asked) -> bool:
        header = read_header(RunningInfoHeader, command.ext_fields)
        if header.consumer_group != self._group:
            return False
        options = self._member.options
        info = RunningInfo(
            {
                "PROP_CLIENT_VERSION": "AEROBEE",
                "PROP_CONSUMEORDERLY": str(options.is_ordered).lower(),
                "PROP_CONSUMER_START_TIMESTAMP": str(self._started_ms),
                "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
                "PROP_NAMESERVER_ADDR": ";".join(self._session.options.name_servers),
                "PROP_THREADPOOL_CORE_SIZE": str(options.concurrency),
                CONSUME_MODE: options.mode,
                PAUSED_QUEUES: ",".join(
                    str(owned.queue)
                    for owned in self._member.queues.all()
                    if owned.is_paused or self._inbox.is_paused
                ),
            },
            {
                owned.queue: QueueInHand(
                    owned.in_hand.commit_offset(),
                    owned.in_hand.oldest(),
                    owned.in_hand.newest,
                    owned.in_hand.count,
                    owned.in_hand.size,
                    options.is_ordered,
                    owned.last_pull_ms,
                    owned.is_dropped,
                )
                for owned in self._member.queues.all()
            },
            tuple(self._member.subscriptions.values()),
            _stacks() if header.jstack_enable else "",
        )
        answer_well(line, command, encode_running_info(info))
        return True

    def _consume_directly(self, line: Line, command: Asked) -> bool:
        header = read_header(ConsumeDirectlyHeader, command.ext_fields)
        if header.consumer_group != self._group:
            return False
        queue = MessageQueue(header.topic, header.broker_name or "", QueueId(0))
        message = DirectMessage(self._inbox, queue, bytes(command.body), self._session.reply)
        self._session.spawn(self._tell(line, command, message), "a message consumed directly")
        return True

    async def _tell(self, line: Line, command: Asked, message: DirectMessage) -> None:
        began_ms = self._session.clock.monotonic_ms()
        result, remark = await message.outcome()
        body = encode_consume_result(
            result,
            spent_ms=self._session.clock.monotonic_ms() - began_ms,
            is_ordered=self._member.options.is_ordered,
            remark=remark,
        )
        answer_well(line, command, body)

    @property
    def _group(self) -> str:
        return self._member.group


def _stacks() -> str:
    """The stacks of all tasks of the loop, in place of Java's thread dump."""
    found = []
    for task in asyncio.all_tasks():
        found.append(f'"{task.get_name()}"')
        found += [
            f"    at {frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
            for frame in reversed(task.get_stack())
        ]
        found.append("")
    return "\n".join(found)
