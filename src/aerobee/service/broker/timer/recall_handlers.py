"""RECALL_MESSAGE: recalls a timed message before its delivery.

A second message is stored for the same tick; it names the first by topic and unique id. When the
tick comes both are dropped. So a recall is as safe as a send, and may be repeated.
"""

from collections.abc import Callable, Mapping

from aerobee.errors import AerobeeError, RemoteProtocolError, StorageError
from aerobee.model.flags import is_writable
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import (
    MESSAGE_REGION,
    TAGS,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_DELIVER_MS,
    UNIQUE_KEY,
)
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.message.recall_handle import RecallHandle, decode_recall_handle
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.store_refusals import refused_by_store
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request

RECALL_TAG = "_RECALL_TAG_"


class RecallHandlers:
    def __init__(
        self,
        writer: MessageWriter,
        has_topic: Callable[[str], bool],
        broker_name: str,
        config: Callable[[], BrokerConfig],
        peers: Mapping[ChannelId, Peer],
    ) -> None:
        self._writer = writer
        self._has_topic = has_topic
        self._broker_name = broker_name
        self._config = config
        self._peers = peers

    def rows(self) -> list[Row]:
        return [row(RequestCode.RECALL_MESSAGE, RecallHeader, self._recall, Lane.SEND)]

    def _recall(self, request: Request, header: RecallHeader) -> Answer | None:
        fault = self._find_fault(header)
        if fault is not None:
            return fault
        handle = self._read(header, request.now.wall_ms)
        if isinstance(handle, Answer):
            return handle
        host = Host(*self._peers[request.channel])
        try:
            stored = self._writer.put(_recalling(handle, host, request.now.wall_ms), request.now)
        except StorageError as error:
            return refused_by_store(error)
        except AerobeeError as error:
            return Answer(ResponseCode.SYSTEM_ERROR, str(error))
        answer = Answer(fields={"msgId": handle.unique_id, MESSAGE_REGION: self._config().region})
        doubt = "it may not be taken back"
        self._writer.answers.answer(request, stored.end_offset, answer, doubt)
        return None

    def _find_fault(self, header: RecallHeader) -> Answer | None:
        config = self._config()
        if not config.recalls:
            return Answer(
                ResponseCode.NO_PERMISSION,
                "recall failed, operation is forbidden: set recallMessageEnable",
            )
        if not is_writable(config.permission):
            return Answer(
                ResponseCode.SERVICE_NOT_AVAILABLE, "recall failed, broker service not available"
            )
        if not self._has_topic(header.topic):
            return Answer(
                ResponseCode.TOPIC_NOT_EXIST,
                f"recall failed, the topic[{header.topic[:255]}] not exist",
            )
        return None

    def _read(self, header: RecallHeader, wall_ms: int) -> RecallHandle | Answer:
        try:
            handle = decode_recall_handle(header.recall_handle)
        except RemoteProtocolError:
            return _illegal("recall failed, decode handle failed")
        if handle.topic != header.topic:
            return _illegal("recall failed, topic not match")
        if handle.broker_name != self._broker_name:
            return _illegal("recall failed, broker service not available here")
        ahead_ms = handle.deliver_ms - wall_ms
        if not 0 < ahead_ms < self._config().timer_delay_ms_max:
            return _illegal("recall failed, timestamp invalid")
        return handle


def _illegal(remark: str) -> Answer:
    return Answer(ResponseCode.ILLEGAL_OPERATION, remark)


def _recalling(handle: RecallHandle, host: Host, wall_ms: int) -> StoredMessage:
    return StoredMessage(
        topic=handle.topic,
        queue_id=QueueId(0),
        queue_offset=QueueOffset(0),
        log_offset=LogOffset(0),
        body=b"0",
        properties={
            TAGS: RECALL_TAG,
            UNIQUE_KEY: handle.unique_id,
            TIMER_DELIVER_MS: str(handle.deliver_ms),
            TIMER_DELETE_UNIQUE_KEY: f"{handle.topic}+{handle.unique_id}",
        },
        born_timestamp=wall_ms,
        born_host=host,
        store_timestamp=0,
        store_host=host,
    )
