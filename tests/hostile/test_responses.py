"""Responses that nobody waits for, and answers of clients that make no sense."""

import pytest

from aerobee.protocol.remoting.command_header import (
    BINARY_TYPE,
    JSON_TYPE,
    ONEWAY_FLAG,
    RESPONSE_FLAG,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from tests.hostile.cases import GARBAGE_BODIES
from tests.hostile.server import MIB, Server, heartbeat, undisturbed
from tests.wire_client import WireClient

GROWN_BYTES_MAX = 32 * MIB
NONSENSE = [
    RemotingCommand(code, remark=remark, ext_fields={"x": "y" * 1000}, body=body)
    for code in (0, 1, 17, 999_999, -5)
    for remark in ("", "\0\x1b\u2028" * 3000)
    for body in GARBAGE_BODIES[:6]
]


def response(answer: RemotingCommand, opaque: int, flag: int = RESPONSE_FLAG) -> bytes:
    said = RemotingCommand(
        answer.code,
        flag=flag,
        opaque=opaque,
        remark=answer.remark,
        ext_fields=answer.ext_fields,
        body=answer.body,
    )
    return b"".join(encode(said))


def next_from(client: WireClient, *, is_response: bool) -> RemotingCommand:
    """The next answer, or the next question; news is neither."""
    while True:
        command = client.read()
        assert command is not None
        if command.is_response == is_response and not command.is_oneway:
            return command


@pytest.mark.parametrize("form", [JSON_TYPE, BINARY_TYPE])
def test_a_response_to_nobody_is_nothing(server: Server, form: int) -> None:
    with undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX):
        for port, asked in ((server.broker, 28), (server.nameserver, 106)):
            with WireClient(port) as client:
                for code in RequestCode:
                    for flag in (RESPONSE_FLAG, RESPONSE_FLAG | ONEWAY_FLAG):
                        said = RemotingCommand(code, flag=flag, opaque=1, body=b"{")
                        said.serialize_type = form if code < 2**15 else JSON_TYPE
                        client.write(b"".join(encode(said)))
                assert client.ask(asked).code == 0  # and nothing before that


@pytest.mark.parametrize("code", [307, 223])
def test_a_client_that_answers_nonsense_harms_only_who_asked_it(server: Server, code: int) -> None:
    fields = {
        307: {"consumerGroup": "odd", "clientId": "odd", "jstackEnable": "false"},
        223: {"group": "odd", "topic": "Citizen", "clientAddr": ""},
    }[code]
    with (
        undisturbed(server, grown_bytes_max=GROWN_BYTES_MAX),
        WireClient(server.broker) as odd,
        WireClient(server.broker) as tool,
    ):
        beat = RemotingCommand(34, opaque=1, body=heartbeat("odd", "odd", "Citizen"))
        odd.write(b"".join(encode(beat)))
        assert next_from(odd, is_response=True).code == 0
        for number, nonsense in enumerate(NONSENSE):
            tool.write(b"".join(encode(RemotingCommand(code, opaque=number, ext_fields=fields))))
            question = next_from(odd, is_response=False)
            odd.write(response(nonsense, question.opaque + 1))  # to nobody
            odd.write(response(nonsense, question.opaque))
            odd.write(response(nonsense, question.opaque))  # and once more
            answer = tool.read()
            assert answer is not None
            assert (answer.opaque, answer.is_response) == (number, True)
            assert answer.code == 0 or answer.remark or nonsense.remark == ""
            assert "internal error" not in answer.remark
