import pytest

from aerobee.protocol.request_codes import (
    RequestCode,
    find_request_code,
    request_name,
)


def test_every_number_and_every_name_stands_once() -> None:
    """An enumeration would turn a number that comes twice into an alias without a word."""
    assert len(RequestCode) == len(RequestCode.__members__) == 182


@pytest.mark.parametrize(
    ("number", "name", "serves", "marks"),
    [
        (10, "SEND_MESSAGE", "B", ("core",)),
        (13, "QUERY_BROKER_OFFSET", "", ("rare",)),
        (21, "GET_ALL_TOPIC_CONFIG", "B", ("admin", "ha")),
        (39, "CHECK_TRANSACTION_STATE", "C", ("core",)),
        (103, "REGISTER_BROKER", "N", ("core",)),
        (105, "GET_ROUTEINFO_BY_TOPIC", "N", ("core",)),
        (209, "SUSPEND_CONSUMER", "", ("rare",)),
        (214, "WHO_CONSUME_THE_MESSAGE", "", ("rare",)),
        (307, "GET_CONSUMER_RUNNING_INFO", "BC", ("admin",)),
        (310, "SEND_MESSAGE_V2", "B", ("core",)),
        (320, "SEND_BATCH_MESSAGE", "B", ("core",)),
        (904, "BROKER_HEARTBEAT", "NK", ("ha", "raft")),
        (903, "REMOVE_BROKER", "X", ("rare",)),
        (1013, "CONTROLLER_APPLY_BROKER_ID", "K", ("raft",)),
        (3010, "AUTH_LIST_ACL", "B", ("admin",)),
        (28008, "CHANGE_BROKER_ROLE", "B", ("admin", "ha")),
        (200050, "POP_MESSAGE", "B", ("pop",)),
        (200151, "BATCH_ACK_MESSAGE", "B", ("pop",)),
    ],
)
def test_rows_of_the_specification(
    number: int, name: str, serves: str, marks: tuple[str, ...]
) -> None:
    code = RequestCode[name]
    assert code == number
    assert find_request_code(number) is code
    assert (code.serves, code.marks) == (serves, marks)


def test_roles_and_marks_are_those_that_are_explained() -> None:
    assert {role for code in RequestCode for role in code.serves} == set("BNCKX")
    marks = {mark for code in RequestCode for mark in code.marks}
    assert marks == {"core", "admin", "ha", "raft", "pop", "rare"}
    assert all(code.marks for code in RequestCode)


def test_what_nobody_serves_is_rare() -> None:
    assert all(code.marks == ("rare",) for code in RequestCode if not code.serves)


def test_a_number_without_a_name_is_called_by_its_number() -> None:
    assert request_name(34) == "HEART_BEAT"
    assert request_name(16) == "16"
    assert find_request_code(16) is None
