"""Many requests on one connection, and the answers to each."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aerobee.protocol.remoting.command_header import JSON_TYPE, ONEWAY_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.hostile.cases import Case
from tests.wire_client import WireClient

NOBODY_SERVES = 32_000
TOGETHER = 32
"""Sent before their answers are read."""


class Outcome(NamedTuple):
    case: Case
    answers: Sequence[RemotingCommand]


def ask_all(
    port: int, cases: Iterable[Case], form: int, flag: int = 0, together: int = TOGETHER
) -> Iterator[Outcome]:
    """What each request was answered, in whatever order: a last request of the same connection,
    which waits for nothing, shows that there are no more."""
    left = iter(cases)
    opaques = itertools.count(1)
    with WireClient(port) as client:
        while part := list(itertools.islice(left, together)):
            numbered = {next(opaques): case for case in part}
            for opaque, case in numbered.items():
                client.write(frame_of(case, form, flag, opaque))
            answers = _read(client, numbered, next(opaques), form, is_oneway=flag == ONEWAY_FLAG)
            for opaque, case in numbered.items():
                yield Outcome(case, answers[opaque])


def frame_of(case: Case, form: int, flag: int, opaque: int) -> bytes:
    command = RemotingCommand(
        case.code, flag=flag, opaque=opaque, ext_fields=dict(case.fields), body=case.body
    )
    command.serialize_type = form_of(case.code, form)
    return b"".join(encode(command))


def form_of(code: int, form: int) -> int:
    """The form that a request can have: codes of more than 16 bits have no room in the binary."""
    return form if code <= 32_767 else JSON_TYPE


def _read(
    client: WireClient, numbered: dict[int, Case], last: int, form: int, *, is_oneway: bool
) -> dict[int, list[RemotingCommand]]:
    client.write(frame_of(Case(NOBODY_SERVES, "the end", {}, b""), form, 0, last))
    answers: dict[int, list[RemotingCommand]] = {opaque: [] for opaque in (*numbered, last)}
    awaited = {last} if is_oneway else set(answers)
    while awaited:
        answer = client.read()
        assert answer is not None, f"closed, while waiting for {_named(numbered, awaited)}"
        if answer.is_response:  # else news that the hostile heartbeats bring about
            assert answer.opaque in answers, f"an answer to nobody: {answer}"
            asked = numbered.get(answer.opaque)
            code = asked.code if asked is not None else NOBODY_SERVES
            assert answer.serialize_type == form_of(code, form)
            answers[answer.opaque].append(answer)
            awaited.discard(answer.opaque)
    return answers


def _named(numbered: dict[int, Case], opaques: set[int]) -> list[str]:
    return [f"{numbered[o].code} {numbered[o].what}" for o in opaques if o in numbered]
