"""Every request of both servers with every field and body that it should not have."""

import types
import zlib
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Annotated, NamedTuple, Union, get_args, get_origin, get_type_hints

import pytest

from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE, ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import request_name
from tests.broker_kit import BrokerKit
from tests.hostile.cases import (
    FORMS,
    Case,
    body_cases,
    field_cases,
    good_fields,
    served_by_broker,
    served_by_nameserver,
)
from tests.hostile.server import MIB, Server, undisturbed
from tests.hostile.sweep import Outcome, ask_all

REMARK_CHARS_MAX = 1000
GROWN_BYTES_MAX = 96 * MIB
NO_NUMBERS = ("x", "1e99", "0x10", "1_0", " 7\n", "١٢", "9" * 5000, "9223372036854775808", "--1")


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


def sweep(port: int, cases: list[Case]) -> None:
    """Half of them in each form: `night` has all of them in both."""
    assert faults(port, cases[0::2], JSON_TYPE) == []
    assert faults(port, cases[1::2], BINARY_TYPE) == []


def test_whatever_a_broker_is_asked_it_answers_once_and_says_what_is_wrong(server: Server) -> None:
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        sweep(server.broker, all_cases(served_by_broker()))


def test_whatever_a_name_server_is_asked_it_answers_once_and_says_what_is_wrong(
    server: Server,
) -> None:
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        sweep(server.nameserver, all_cases(served_by_nameserver()))


@pytest.mark.night
@pytest.mark.parametrize("form", FORMS)
def test_it_is_so_for_all_of_it_in_either_form(server: Server, form: int) -> None:
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        assert faults(server.broker, all_cases(served_by_broker()), form) == []
        assert faults(server.nameserver, all_cases(served_by_nameserver()), form) == []


def test_what_expands_to_megabytes_of_nonsense_keeps_nobody_waiting(server: Server) -> None:
    """Sixteen million numbers behind a key that JSON does not have, packed into 40 KB."""
    text = b"T 1 1 6 SINGLE_TAG {0:[" + b"0," * (15 << 20) + b"0]}"
    parts = b"\0\0\0\x02{}\0\0\0\x01" + len(text).to_bytes(4, "big") + text
    good = good_fields(served_by_nameserver()[103]) | {"compressed": "true"}
    bomb = Case(103, "a bomb", good, zlib.compress(parts, 9))
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for one in ask_all(server.nameserver, [bomb] * 3, JSON_TYPE):
            assert fault_of(one) is None
            assert one.answers[0].code == 1


def unwanted_answers(port: int, cases: list[Case], form: int) -> list[str]:
    return [
        f"{request_name(one.case.code)}, {one.case.what}: {one.answers}"
        for one in ask_all(port, cases, form, ONEWAY_FLAG)
        if one.answers
    ]


def test_what_wants_no_answer_gets_none_however_wrong_it_is(server: Server) -> None:
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for port, served in (
            (server.broker, served_by_broker()),
            (server.nameserver, served_by_nameserver()),
        ):
            cases = all_cases(served)
            assert unwanted_answers(port, cases[0::6], JSON_TYPE) == []
            assert unwanted_answers(port, cases[3::6], BINARY_TYPE) == []


class Declared(NamedTuple):
    """A field of a request as its header declares it."""

    code: int
    names: list[str]
    name: str
    is_number: bool
    must_be_there: bool


def declared_fields() -> Iterator[Declared]:
    served = served_by_broker()
    for code, row in BrokerKit().broker.table.items():
        hints = get_type_hints(row.header, include_extras=True)
        for one in fields(row.header):
            named = write_header(_only(row.header, one.name))
            is_number = get_origin(_without_none(hints[one.name])) is Annotated
            (wire,) = named
            yield Declared(code, served[code], wire, is_number, one.default is MISSING)


def _only(kind: type, name: str) -> object:
    """A header in which nothing but one field is said."""
    return kind(**{one.name: "1" if one.name == name else None for one in fields(kind)})


def _without_none(hint: object) -> object:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    return hint


def refusals_wanted() -> list[tuple[Case, str]]:
    """Requests that cannot be carried out, and what must be named for it."""
    wanted = []
    for one in declared_fields():
        good = good_fields(one.names)
        bad = [good | {one.name: text} for text in NO_NUMBERS] if one.is_number else []
        if one.must_be_there:
            bad.append({name: text for name, text in good.items() if name != one.name})
        wanted += [(Case(one.code, one.name, said, b""), one.name) for said in bad]
    for code, letters in ((310, "efgh"), (320, "efgh"), (325, "efgh")):
        good = good_fields(served_by_broker()[code])
        wanted += [
            (Case(code, letter, good | {letter: text}, b"x"), f"field {letter} ")
            for letter in letters
            for text in NO_NUMBERS
        ]
    return wanted


def test_a_number_that_is_none_and_a_field_that_is_missing_are_named(server: Server) -> None:
    wanted = refusals_wanted()
    assert len(wanted) > 300
    for form in (JSON_TYPE, BINARY_TYPE):
        outcomes = ask_all(server.broker, (case for case, _ in wanted), form)
        unnamed = [
            f"{request_name(one.case.code)} {one.case.what}: {one.answers}"
            for one, (_, name) in zip(outcomes, wanted, strict=True)
            if one.answers[0].code == 0 or name not in one.answers[0].remark
        ]
        assert unnamed == []
