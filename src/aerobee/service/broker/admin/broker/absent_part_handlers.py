"""Answers requests for parts of RocketMQ's broker that this one does not have, with the reason.

If an empty answer is true (no limits, no lite topics), it is given; if it would promise something,
the request is refused with the reason. Requests about replication are answered as by a master
without slaves.
"""

from collections.abc import Callable, Mapping

from aerobee.protocol.bodies.absent_parts import encode_no_cold_limits, encode_no_light_topics
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

_CODE = RequestCode
_NO_LIMITS = (
    "there are no limits per group: old messages are read by a disk thread, a few requests at a "
    "time, and hold nobody else up. To slow one group down, lower the pullBatchSize of its "
    "consumers, or set its consumeEnable to false"
)
_NO_LIGHT_TOPICS = (
    "this broker has no lite topics: send to one ordinary topic, with a tag or a property for "
    "each receiver, and let consumers filter by it"
)
_NO_ROCKSDB = "this broker keeps nothing in RocksDB: queues and tables are plain files"

REFUSED: Mapping[RequestCode, str] = {
    _CODE.UPDATE_COLD_DATA_FLOW_CTR_CONFIG: _NO_LIMITS,
    _CODE.REMOVE_COLD_DATA_FLOW_CTR_CONFIG: _NO_LIMITS,
    _CODE.SET_COMMITLOG_READ_MODE: (
        "the store tells the system by itself how it reads its log: there is no mode to set. "
        "If old messages are read often, give the machine more memory for its page cache"
    ),
    _CODE.GET_PARENT_TOPIC_INFO: _NO_LIGHT_TOPICS,
    _CODE.GET_LITE_TOPIC_INFO: _NO_LIGHT_TOPICS,
    _CODE.GET_LITE_CLIENT_INFO: _NO_LIGHT_TOPICS,
    _CODE.GET_LITE_GROUP_INFO: _NO_LIGHT_TOPICS,
    _CODE.TRIGGER_LITE_DISPATCH: _NO_LIGHT_TOPICS,
    _CODE.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: _NO_ROCKSDB,
    _CODE.EXPORT_ROCKSDB_CONFIG_TO_JSON: _NO_ROCKSDB,
    _CODE.POP_ROLLBACK: _NO_ROCKSDB,
}


class AbsentPartHandlers:
    def __init__(self, store: Store, offsets: ConsumerOffsets) -> None:
        self._store = store
        self._offsets = offsets

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.ADMIN
        return [
            row(code.GET_COLD_DATA_FLOW_CTR_INFO, NoHeader, self._cold_limits, lane),
            row(code.GET_BROKER_LITE_INFO, NoHeader, self._light_topics, lane),
            *(row(one, NoHeader, _refusing(why), lane) for one, why in REFUSED.items()),
        ]

    def _cold_limits(self, request: Request, header: NoHeader) -> Answer:
        return Answer(body=encode_no_cold_limits())

    def _light_topics(self, request: Request, header: NoHeader) -> Answer:
        topics = {queue.topic for queue in self._store.queues()}
        return Answer(body=encode_no_light_topics(len(topics), sum(1 for _ in self._offsets)))


def _refusing(why: str) -> Callable[[Request, NoHeader], Answer]:
    refusal = Answer(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, why)
    return lambda request, header: refusal
