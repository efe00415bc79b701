import pytest

from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.proxy.outcomes import OK_STATUS, common_status, status_of
from aerobee.service.request import Answer


@pytest.mark.parametrize(
    ("answered", "code"),
    [
        (ResponseCode.SUCCESS, GrpcCode.OK),
        (ResponseCode.SYSTEM_ERROR, GrpcCode.INTERNAL_SERVER_ERROR),
        (ResponseCode.SYSTEM_BUSY, GrpcCode.TOO_MANY_REQUESTS),
        (ResponseCode.POLLING_FULL, GrpcCode.TOO_MANY_REQUESTS),
        (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, GrpcCode.NOT_IMPLEMENTED),
        (ResponseCode.FLUSH_DISK_TIMEOUT, GrpcCode.MASTER_PERSISTENCE_TIMEOUT),
        (ResponseCode.FLUSH_SLAVE_TIMEOUT, GrpcCode.SLAVE_PERSISTENCE_TIMEOUT),
        (ResponseCode.SLAVE_NOT_AVAILABLE, GrpcCode.HA_NOT_AVAILABLE),
        (ResponseCode.TOPIC_NOT_EXIST, GrpcCode.TOPIC_NOT_FOUND),
        (ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, GrpcCode.CONSUMER_GROUP_NOT_FOUND),
        (ResponseCode.SUBSCRIPTION_PARSE_FAILED, GrpcCode.ILLEGAL_FILTER_EXPRESSION),
        (ResponseCode.NO_PERMISSION, GrpcCode.FORBIDDEN),
        (ResponseCode.MESSAGE_ILLEGAL, GrpcCode.INTERNAL_SERVER_ERROR),
    ],
)
def test_answers_of_the_broker_have_a_code_of_the_protocol(
    answered: ResponseCode, code: GrpcCode
) -> None:
    assert status_of(Answer(answered, "why")).code == code


def test_the_remark_is_the_message_and_a_missing_one_is_the_name_of_the_code() -> None:
    assert status_of(Answer(ResponseCode.SYSTEM_BUSY, "why")).message == "why"
    assert status_of(Answer(ResponseCode.SYSTEM_BUSY)).message == "SYSTEM_BUSY"


def test_entries_have_one_status_if_they_agree() -> None:
    bad = Status(GrpcCode.INVALID_RECEIPT_HANDLE, "x")
    assert common_status([OK_STATUS, OK_STATUS]) == OK_STATUS
    assert common_status([bad, bad]) == bad
    assert common_status([OK_STATUS, bad]).code == GrpcCode.MULTIPLE_RESULTS
    assert common_status([]).code == GrpcCode.INTERNAL_SERVER_ERROR
