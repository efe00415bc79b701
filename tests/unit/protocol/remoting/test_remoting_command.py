import json

import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.remoting.command_header import BINARY_TYPE, CommandHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import (
    VERSION,
    RemotingCommand,
    decode,
    encode,
    reply_to,
)
from tests.wire import binary_header, frame, java_header


def decoded(data: bytes) -> RemotingCommand:
    frames = FrameReader()
    frames.receive(data)
    assert frames.advance()
    return decode(frames)


@pytest.mark.parametrize("serialize_type", [0, 1])
def test_a_command_comes_back_as_it_was_written(serialize_type: int) -> None:
    command = RemotingCommand(
        17,
        flag=3,
        opaque=-1,
        version=409,
        language="GO",
        remark="no such topic",
        ext_fields={"topic": "订单"},
        body=b"body",
    )
    command.serialize_type = serialize_type
    data = b"".join(encode(command))
    assert data[4] == serialize_type
    assert decoded(data) == command
    assert decoded(data).serialize_type == serialize_type


def test_both_forms_are_decoded_from_their_frames() -> None:
    fields = {"topic": "T"}
    by_json = decoded(frame(java_header(105, fields), b"x"))
    by_binary = decoded(frame(binary_header(105, fields), b"x", 1))
    assert by_json == by_binary
    assert not by_json != by_binary  # noqa: SIM202  two different questions to a compiled class
    assert by_json != decoded(frame(java_header(105, fields), b"y"))


def test_a_bad_header_is_the_peers_mistake() -> None:
    with pytest.raises(RemoteProtocolError, match="JSON header"):
        decoded(frame(b"{"))
    with pytest.raises(RemoteProtocolError, match="binary header"):
        decoded(frame(b"{", b"", 1))


@pytest.mark.parametrize("form", [0, 1])
def test_a_request_that_is_too_large_can_be_answered_and_an_answer_is_refused(form: int) -> None:
    def header(flag: int) -> bytes:
        fields = {"i": "x" * 33_000}
        if form == 0:
            return java_header(310, fields, 7, flag)
        return binary_header(310, fields, opaque=7, flag=flag)

    request = decoded(frame(header(0), b"body", form))
    assert (request.code, request.opaque, bytes(request.body)) == (310, 7, b"body")
    assert request.excess == "a name or value of more than 32768 bytes"
    with pytest.raises(RemoteProtocolError, match="an answer whose header is too large: a name"):
        decoded(frame(header(1), b"body", form))


def test_a_body_is_not_copied() -> None:
    body = memoryview(b"pulled messages")
    assert encode(RemotingCommand(0, body=body))[1] is body


def test_no_body_is_no_buffer() -> None:
    assert len(encode(RemotingCommand(34))) == 1


@pytest.mark.parametrize("form", [0, BINARY_TYPE])
def test_a_reply_goes_back_in_the_form_and_with_the_opaque_of_its_request(form: int) -> None:
    request = CommandHeader(
        310, opaque=-77, language="CPP", version=63, ext_fields={"a": "b"}, serialize_type=form
    )
    reply = reply_to(request, 0, ext_fields={"queueId": "1"}, body=b"b")
    assert reply.serialize_type == form
    assert reply == RemotingCommand(
        0, flag=1, opaque=-77, version=VERSION, ext_fields={"queueId": "1"}, body=b"b"
    )
    assert reply.is_response
    assert not reply.is_oneway
    assert request.ext_fields == {"a": "b"}


def test_a_reply_says_version_479_or_newer_and_java() -> None:
    """Older clients refuse SQL92 below 232 and do not know names of newer languages."""
    reply = reply_to(CommandHeader(34, language="RUST"), 1, remark="why")
    said = json.loads(bytes(encode(reply)[0][8:]))
    assert said["version"] >= 479
    assert said["language"] == "JAVA"
    assert said["remark"] == "why"


def test_a_pop_request_cannot_be_binary() -> None:
    pop = RemotingCommand(200050)
    pop.serialize_type = BINARY_TYPE
    with pytest.raises(LocalProtocolError, match="200050 does not fit"):
        encode(pop)


def test_a_command_is_no_header_and_no_key() -> None:
    assert RemotingCommand(1, version=0) != CommandHeader(1)
    with pytest.raises(TypeError):
        hash(RemotingCommand())


def test_a_command_shows_what_it_says_but_not_its_body() -> None:
    assert repr(RemotingCommand(5, body=b"secret")).endswith("ext_fields={}, body of 6 bytes)")
