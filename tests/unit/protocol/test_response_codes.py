import pytest

from aerobee.errors import Refused, Retriable
from aerobee.protocol.response_codes import (
    ResponseCode,
    SendOutcome,
    error_for,
    find_response_code,
    outcome_of,
)

NORMAL = {0, 10, 11, 12, 19, 20, 21, 22, 200, 201, 202, 208, 210}
FAILED = {2, 3, 13, 14, 15, 16, 17, 26, 29, 215, 501, 1500, 28101, 28103, 28104}


def test_every_number_and_every_name_stands_once() -> None:
    assert len(ResponseCode) == len(ResponseCode.__members__) == 70


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0, "SUCCESS"),
        (12, "FLUSH_SLAVE_TIMEOUT"),
        (29, "INVALID_PARAMETER"),
        (209, "POLLING_FULL"),
        (215, "FLOW_CONTROL"),
        (501, "NOT_LEADER_FOR_QUEUE"),
        (604, "ILLEGAL_OPERATION"),
        (-1006, "RPC_TIME_OUT"),
        (2016, "CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS"),
        (3002, "POLICY_NOT_EXIST"),
    ],
)
def test_rows_of_the_specification(number: int, name: str) -> None:
    assert ResponseCode[name] == number
    assert find_response_code(number) is ResponseCode[name]


def test_only_success_is_an_acknowledgement() -> None:
    assert [code for code in ResponseCode if code.outcome is SendOutcome.ACKED] == [0]


def test_what_is_refused_before_the_append_has_failed() -> None:
    assert {int(code) for code in ResponseCode if code.outcome is SendOutcome.FAILED} == FAILED


@pytest.mark.parametrize("number", [1, 10, 11, 12, -1006, 9999])
def test_what_may_have_been_stored_is_unknown(number: int) -> None:
    assert outcome_of(number) is SendOutcome.UNKNOWN


def test_outcomes_go_by_the_number() -> None:
    assert outcome_of(0) is SendOutcome.ACKED
    assert outcome_of(17) is SendOutcome.FAILED


@pytest.mark.parametrize("number", [1, 2, 14, 16, 17, 204, 205, 1500])
def test_what_a_java_producer_retries_is_retriable(number: int) -> None:
    assert isinstance(error_for(number, ""), Retriable)


@pytest.mark.parametrize("number", [3, 13, 26, 29, 604, 2002, 3001])
def test_what_will_be_refused_again_is_refused(number: int) -> None:
    assert isinstance(error_for(number, ""), Refused)


def test_normal_outcomes_are_no_errors() -> None:
    assert {int(code) for code in ResponseCode if error_for(code, "x") is None} == NORMAL


def test_an_error_tells_the_name_the_number_and_the_remark() -> None:
    error = error_for(17, "No topic route info")
    assert error is not None
    assert str(error) == "TOPIC_NOT_EXIST (17): No topic route info"
    assert error.code == 17
    assert str(error_for(29, "")) == "INVALID_PARAMETER (29)"


def test_a_number_that_nobody_knows_is_a_refusal() -> None:
    error = error_for(9999, "?")
    assert isinstance(error, Refused)
    assert str(error) == "unknown response code (9999): ?"
    assert find_response_code(9999) is None
