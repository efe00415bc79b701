"""A slave's refusals: requests that would write to the log or change a table which it copies from
its master.

The answer is SERVICE_NOT_AVAILABLE, which every client tries again elsewhere; SYSTEM_BUSY, which
Apache's slaves answer, is an error at once for Go's and older Java's producers.
"""

from collections.abc import Callable, Iterable

from aerobee.errors import NothingTaken
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.request_table import Row
from aerobee.service.request import Answer, Request

_CODE = RequestCode

MASTER_ONLY = frozenset(
    {
        _CODE.SEND_MESSAGE,
        _CODE.SEND_MESSAGE_V2,
        _CODE.SEND_BATCH_MESSAGE,
        _CODE.SEND_REPLY_MESSAGE,
        _CODE.SEND_REPLY_MESSAGE_V2,
        _CODE.SEND_ONCE,
        _CODE.OPEN_PRODUCER,
        _CODE.STAGE_BATCH,
        _CODE.PUBLISH_STAGED,
        _CODE.FINISH_ROUND,
        _CODE.CONSUMER_SEND_MSG_BACK,
        _CODE.RESUME_CHECK_HALF_MESSAGE,
        _CODE.RECALL_MESSAGE,
        _CODE.POP_MESSAGE,
        _CODE.PEEK_MESSAGE,
        _CODE.ACK_MESSAGE,
        _CODE.BATCH_ACK_MESSAGE,
        _CODE.CHANGE_MESSAGE_INVISIBLETIME,
        _CODE.UPDATE_AND_CREATE_TOPIC,
        _CODE.UPDATE_AND_CREATE_TOPIC_LIST,
        _CODE.DELETE_TOPIC_IN_BROKER,
        _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        _CODE.DELETE_SUBSCRIPTIONGROUP,
        _CODE.UPDATE_AND_GET_GROUP_FORBIDDEN,
        _CODE.SET_MESSAGE_REQUEST_MODE,
        _CODE.INVOKE_BROKER_TO_RESET_OFFSET,
        _CODE.CLONE_GROUP_OFFSET,
        _CODE.CLEAN_UNUSED_TOPIC,
    }
)
"""Requests that only a master serves. END_TRANSACTION has an answer of its own."""


class NotMaster(NothingTaken):
    """This broker is a slave: nothing is appended to its log but its master's bytes."""


def slave_rows(rows: Iterable[Row], master: Callable[[], str]) -> list[Row]:
    """The rows of a slave: those of a master, with refusals for what only a master serves."""

    def refuse(request: Request, header: object) -> Answer:
        return Answer(ResponseCode.SERVICE_NOT_AVAILABLE, not_master(master()).message)

    return [one._replace(handle=refuse) if one.code in MASTER_ONLY else one for one in rows]


def not_master(master: str) -> NotMaster:
    """The error that refuses an append."""
    where = f"ask its master at {master}" if master else "its master is not known"
    return NotMaster(f"service not available now: this broker is a slave, {where}")
