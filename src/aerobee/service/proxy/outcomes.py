"""Outcomes of calls: `CallRefused`, and the codes of the protocol for answers of the broker.

RocketMQ's proxy hides most codes of a broker in its own process behind 50001; here each has the
code that its proxy gives in a cluster, which tells clients more.
"""

from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer

OK_STATUS = Status(GrpcCode.OK, "OK")

_CODES = {
    ResponseCode.SUCCESS: GrpcCode.OK,
    ResponseCode.SYSTEM_BUSY: GrpcCode.TOO_MANY_REQUESTS,
    ResponseCode.FLOW_CONTROL: GrpcCode.TOO_MANY_REQUESTS,
    ResponseCode.POLLING_FULL: GrpcCode.TOO_MANY_REQUESTS,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED: GrpcCode.NOT_IMPLEMENTED,
    ResponseCode.FLUSH_DISK_TIMEOUT: GrpcCode.MASTER_PERSISTENCE_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: GrpcCode.SLAVE_PERSISTENCE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: GrpcCode.HA_NOT_AVAILABLE,
    ResponseCode.TOPIC_NOT_EXIST: GrpcCode.TOPIC_NOT_FOUND,
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: GrpcCode.CONSUMER_GROUP_NOT_FOUND,
    ResponseCode.SUBSCRIPTION_PARSE_FAILED: GrpcCode.ILLEGAL_FILTER_EXPRESSION,
    ResponseCode.NO_PERMISSION: GrpcCode.FORBIDDEN,
    ResponseCode.BROKER_NOT_EXIST: GrpcCode.BAD_REQUEST,
    ResponseCode.RPC_TIME_OUT: GrpcCode.PROXY_TIMEOUT,
}


class CallRefused(Exception):
    """A call is answered with a code of the protocol."""

    def __init__(self, code: GrpcCode, message: str) -> None:
        super().__init__(message)
        self.status = Status(code, message)


def status_of(answer: Answer) -> Status:
    """The status of a call whose request the broker has answered."""
    if answer.code is ResponseCode.SUCCESS:
        return OK_STATUS
    code = _CODES.get(answer.code, GrpcCode.INTERNAL_SERVER_ERROR)
    return Status(code, answer.remark or answer.code.name)


def common_status(statuses: list[Status]) -> Status:
    """The status of a response with an entry for each of these."""
    codes = {status.code for status in statuses}
    if len(codes) == 1:
        return statuses[0]
    if not codes:
        return Status(GrpcCode.INTERNAL_SERVER_ERROR, "the request has no entries")
    return Status(GrpcCode.MULTIPLE_RESULTS, "the entries have different results")
