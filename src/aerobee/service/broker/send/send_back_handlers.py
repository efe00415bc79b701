"""CONSUMER_SEND_MSG_BACK: stores a copy of a message that a consumer returns, to be consumed later.

    record at an offset ─▶ copy ─▶ retry topic, delayed, or dead letters ─▶ durable ─▶ answer

A client whose request is refused sends the message to the retry topic itself, so nothing is lost.
"""

from collections.abc import Callable

from aerobee.errors import AerobeeError, MessageTooLarge, PropertiesTooLong
from aerobee.model.flags import TransactionType, is_inner_batch, is_writable
from aerobee.model.message import StoredMessage
from aerobee.model.names import retry_topic
from aerobee.model.properties import RETRY_TOPIC
from aerobee.protocol.headers.sending_back import SendBackHeader
from aerobee.protocol.message.stored_message import decode_record
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.retry_destination import (
    RetryPlace,
    copy_to_return,
    place_to_return,
    times_allowed,
)
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import OK, Answer, Request, answer_with

_TOO_LONG = "PROPERTIES_SIZE_EXCEEDED"  # RocketMQ's own word

FindRecord = Callable[[int], memoryview | None]
"""The record at a log offset, checked: `Store.record_at`."""
CountReturned = Callable[[str, str, bool], None]
"""Called for each returned message: (topic, group, whether it is a dead letter now)."""


class SendBackHandlers:
    def __init__(
        self,
        find_record: FindRecord,
        writer: MessageWriter,
        topics: Topics,
        groups: Groups,
        permission: Callable[[], int],
        count_returned: CountReturned,
    ) -> None:
        """`permission` returns the broker's current permission."""
        self._find_record = find_record
        self._writer = writer
        self._topics = topics
        self._groups = groups
        self._permission = permission
        self._count_returned = count_returned
        self._turn = 0

    def rows(self) -> list[Row]:
        return [row(RequestCode.CONSUMER_SEND_MSG_BACK, SendBackHeader, self._send_back, Lane.SEND)]

    def _send_back(self, request: Request, header: SendBackHeader) -> Answer | None:
        group = self._groups.ensure(header.group, request.now)
        if group is None:
            return Answer(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"subscription group not exist, {header.group[:255]}",
            )
        if not is_writable(self._permission()):
            return Answer(ResponseCode.NO_PERMISSION, "the broker sending message is forbidden")
        if group.retry_queues <= 0:
            return OK  # the group wants none of them back
        retries = self._topics.find(retry_topic(group.name))
        if retries is not None and not is_writable(retries.permission):
            return Answer(
                ResponseCode.NO_PERMISSION,
                f"the topic[{retries.name}] sending message is forbidden",
            )
        message = self._returned(header.offset)
        if message is None:
            return Answer(
                ResponseCode.SYSTEM_ERROR, f"look message by offset failed, {header.offset}"
            )
        times_max = times_allowed(group, header.max_reconsume_times, request.command.version)
        place = place_to_return(
            group, message.reconsume_times, times_max, header.delay_level, header.reason or ""
        )
        if self._topics.find(place.topic) is None:
            self._make_topic(request, message, place, is_unit=header.unit_mode)
            return None
        return self._store(request, message, place)

    def _returned(self, offset: int) -> StoredMessage | None:
        """The message of a record, if consumers can have received it as a single message."""
        record = self._find_record(offset)
        if record is None:
            return None
        message = decode_record(bytes(record))
        # A batch in one record has to come back as the single message that failed: by a send.
        is_single = not is_inner_batch(message.sys_flag)
        is_visible = message.transaction_type in (TransactionType.NONE, TransactionType.COMMIT)
        return message if is_single and is_visible else None

    def _make_topic(
        self, request: Request, message: StoredMessage, place: RetryPlace, *, is_unit: bool
    ) -> None:
        def made(error: BaseException | None) -> None:
            if error is None:
                answer_with(lambda request: self._store(request, message, place), request)
            else:
                request.answer(
                    Answer(
                        ResponseCode.SYSTEM_ERROR, f"topic[{place.topic}] cannot be made: {error}"
                    )
                )

        self._topics.add([place.topic_config(is_unit=is_unit)], request.now, made)

    def _store(self, request: Request, message: StoredMessage, place: RetryPlace) -> Answer | None:
        self._turn += 1
        copy = copy_to_return(message, place, self._turn % self._queues_of(place))
        try:
            stored = self._writer.put(copy, request.now)
        except (MessageTooLarge, PropertiesTooLong):
            return Answer(ResponseCode.SYSTEM_ERROR, _TOO_LONG)
        except AerobeeError as error:
            return Answer(ResponseCode.SYSTEM_ERROR, str(error))
        group = place.topic.split("%", 2)[2]
        self._count_returned(copy.properties[RETRY_TOPIC], group, place.level == 0)

        self._writer.answers.answer(request, stored.end_offset, OK, "it may not be stored")
        return None

    def _queues_of(self, place: RetryPlace) -> int:
        """The topic may have been made with fewer queues than its group has by now."""
        topic = self._topics.find(place.topic)
        return max(1, min(place.queues, topic.write_queues) if topic is not None else 1)
