"""A slave's refusals: requests that would write to the log or change a table which it copies from
its master.

The answer is SERVICE_NOT_AVAILABLE, which every client tries again elsewhere; SYSTEM_BUSY, which
Apache's slaves answer, is an error at once for Go's and older Java's producers.
"""

from collections.abc import Callable, Collection, Iterable

from aerobee.errors import NothingTaken
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerIdentity
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
        _CODE.UPDATE_AND_CREATE_STATIC_TOPIC,
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
ACTING_REFUSES = MASTER_ONLY - {_CODE.INVOKE_BROKER_TO_RESET_OFFSET, _CODE.CLONE_GROUP_OFFSET}
"""Requests that an acting master does not serve: offsets may be set there, its master gets them."""
RETURNING_REFUSES = MASTER_ONLY | {
    # What is behind the confirmed offset may be read once slaves have confirmed it.
    _CODE.PULL_MESSAGE,
    _CODE.LITE_PULL_MESSAGE,
    # Slaves copy nothing before the acting master's progress is in it.
    _CODE.COPY_BROKER_STATE,
    _CODE.GET_ALL_TOPIC_CONFIG,
    _CODE.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    _CODE.GET_ALL_CONSUMER_OFFSET,
    _CODE.GET_ALL_DELAY_OFFSET,
    _CODE.GET_ALL_MESSAGE_REQUEST_MODE,
    _CODE.GET_TIMER_CHECK_POINT,
    _CODE.GET_TIMER_METRICS,
}
"""Requests that a master does not serve before it is online."""


class NotMaster(NothingTaken):
    """This broker is a slave: nothing is appended to its log but its master's bytes."""


class Returning(NothingTaken):
    """This broker is a master that is not online yet: nothing was appended."""


def returning() -> Returning:
    """The error that refuses an append."""
    return Returning(
        "service not available now: this master has just started and asks its slaves first"
    )


def rows_by_stage(
    identity: BrokerIdentity, rows: list[Row], master: Callable[[], str]
) -> list[Row]:
    """The rows of a broker of this role and stage."""
    if identity.takes_messages:
        return rows
    if identity.is_master:
        return refusing_rows(rows, RETURNING_REFUSES, lambda: returning().message)
    return slave_rows(rows, master, ACTING_REFUSES if identity.is_acting else MASTER_ONLY)


def slave_rows(
    rows: Iterable[Row], master: Callable[[], str], refused: Collection[int] = MASTER_ONLY
) -> list[Row]:
    """The rows of a slave: those of a master, with refusals for what only a master serves."""
    return refusing_rows(rows, refused, lambda: not_master(master()).message)


def refusing_rows(
    rows: Iterable[Row], refused: Collection[int], remark: Callable[[], str]
) -> list[Row]:
    """The rows, with refusals in the place of some."""

    def refuse(request: Request, header: object) -> Answer:
        return Answer(ResponseCode.SERVICE_NOT_AVAILABLE, remark())

    return [one._replace(handle=refuse) if one.code in refused else one for one in rows]


def not_master(master: str) -> NotMaster:
    """The error that refuses an append."""
    where = f"ask its master at {master}" if master else "its master is not known"
    return NotMaster(f"service not available now: this broker is a slave, {where}")
