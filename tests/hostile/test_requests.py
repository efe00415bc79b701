"""Every request of both servers with every field and body that it should not have."""

import pytest

from aerobee.protocol.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.request_codes import request_name
from tests.hostile.cases import (
    Case,
    body_cases,
    field_cases,
    served_by_broker,
    served_by_nameserver,
)
from tests.hostile.server import MIB, Server, undisturbed
from tests.hostile.sweep import Outcome, ask_all

REMARK_CHARS_MAX = 1000
GROWN_BYTES_MAX = 96 * MIB


def all_cases(served: dict[int, list[str]]) -> list[Case]:
    return [
        case
        for code, names in served.items()
        for case in (*field_cases(code, names), *body_cases(code, names))
    ]


def fault_of(outcome: Outcome) -> str | None:
    """What is wrong with how a request was answered."""
    answers = outcome.answers
    if len(answers) != 1:
        return f"{len(answers)} answers"
    answer = answers[0]
    if "internal error" in answer.remark:
        return answer.remark
    if answer.code != 0 and not answer.remark:
        return f"code {answer.code} without a word"
    if len(answer.remark) > REMARK_CHARS_MAX:
        return f"a remark of {len(answer.remark)} characters: {answer.remark[:100]}"
    return None


def faults(port: int, cases: list[Case], form: int) -> list[str]:
    return [
        f"{request_name(one.case.code)}, {one.case.what}: {fault}"
        for one in ask_all(port, cases, form)
        if (fault := fault_of(one)) is not None
    ]


@pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
def test_whatever_a_broker_is_asked_it_answers_once_and_says_what_is_wrong(
    server: Server, form: int
) -> None:
    cases = all_cases(served_by_broker())
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        assert faults(server.broker, cases, form) == []


@pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
def test_whatever_a_name_server_is_asked_it_answers_once_and_says_what_is_wrong(
    server: Server, form: int
) -> None:
    cases = all_cases(served_by_nameserver())
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        assert faults(server.nameserver, cases, form) == []
