"""Frames recorded between real clients and Apache 5.5.0, one of every kind.

`tools/capture_vectors.py` picked them; each line of frames.jsonl says where it comes from. They are
read with the standard library too, and the two must agree.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from aerobee.errors import LocalProtocolError
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode, reply_to
from aerobee.protocol.request_codes import RequestCode, request_name
from aerobee.protocol.response_codes import find_response_code
from aerobee.protocol.send.send_header import SendHeader
from tests.wire import cpp_header, frame, go_header, node_header, send_values
from tools.capture_vectors import plain_header

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "frames.jsonl").read_text(encoding="utf-8").splitlines()
]
EVERY = pytest.mark.parametrize("row", ROWS, ids=[row["origin"] for row in ROWS])

# The binary form has 16 bits for a code: those of pop are above.
TWO_FORMS = [row for row in ROWS if row["code"] <= 32767]
ONE_FORM = [row for row in ROWS if row["code"] > 32767]


def current(data: bytes) -> FrameReader:
    frames = FrameReader()
    frames.receive(data)
    assert frames.advance()
    return frames


def decoded(data: bytes) -> RemotingCommand:
    return decode(current(data))


def test_the_vectors_are_of_many_kinds() -> None:
    assert len(ROWS) > 300
    assert {row["client"] for row in ROWS} >= {"java 4.9.8", "java 5.5.0", "mqadmin 5.5.0"}
    assert {row["kind"] for row in ROWS} == {"request", "response", "oneway"}
    assert {bytes.fromhex(row["frame"])[4] for row in ROWS} == {JSON_TYPE, BINARY_TYPE}


@EVERY
def test_a_captured_frame_reads_as_it_reads_without_us(row: dict[str, Any]) -> None:
    data = bytes.fromhex(row["frame"])
    command = decoded(data)
    plain = plain_header(data)
    assert command.code == plain["code"] == row["code"]
    assert command.flag == plain["flag"]
    assert command.opaque == plain["opaque"]
    assert command.version == plain["version"]
    assert command.language == plain["language"]
    assert command.remark == plain.get("remark", "")
    assert command.ext_fields == plain.get("extFields", {})
    assert command.serialize_type == data[4]
    assert command.is_response == (row["kind"] == "response")
    assert command.is_oneway == (row["kind"] == "oneway")
    assert bytes(command.body) == data[8 + int.from_bytes(data[5:8], "big") :]


@EVERY
def test_a_captured_frame_is_written_again_byte_for_byte(row: dict[str, Any]) -> None:
    """But for empty fields and remarks, which Java writes here and leaves out there."""
    data = bytes.fromhex(row["frame"])
    again = b"".join(encode(decoded(data)))
    assert decoded(again) == decoded(data)
    if b'"extFields":{}' not in data and b'"remark":""' not in data:
        assert again == data


@pytest.mark.parametrize("row", TWO_FORMS, ids=[row["origin"] for row in TWO_FORMS])
def test_a_captured_frame_means_the_same_in_the_other_form(row: dict[str, Any]) -> None:
    command = decoded(bytes.fromhex(row["frame"]))
    command.serialize_type = 1 - command.serialize_type
    assert decoded(b"".join(encode(command))) == command


@pytest.mark.parametrize("row", ONE_FORM, ids=[row["origin"] for row in ONE_FORM])
def test_a_captured_frame_whose_code_has_no_room_in_the_other_form_is_not_written(
    row: dict[str, Any],
) -> None:
    """Java cuts the code off there, and asks for something else."""
    command = decoded(bytes.fromhex(row["frame"]))
    assert command.serialize_type == JSON_TYPE
    command.serialize_type = BINARY_TYPE
    with pytest.raises(LocalProtocolError, match=str(row["code"])):
        encode(command)


@EVERY
def test_the_codes_of_a_captured_frame_are_in_the_tables(row: dict[str, Any]) -> None:
    if row["kind"] == "response":
        assert find_response_code(row["code"]) is not None
        assert RequestCode[row["name"]] > 0
    else:
        assert request_name(row["code"]) == row["name"]
        served = RequestCode[row["name"]].serves
        role = {"broker": "B", "nameserver": "N", "client": "C"}[row["to"]]
        assert role in served


def test_all_captured_frames_come_out_of_one_stream() -> None:
    stream = b"".join(bytes.fromhex(row["frame"]) for row in ROWS)
    for size in (1000, 65536):
        reader = FrameReader()
        found = []
        for start in range(0, len(stream), size):
            reader.receive(stream[start : start + size])
            while reader.advance():
                found.append(bytes(reader.header() + reader.body()))
        assert found == [bytes.fromhex(row["frame"])[8:] for row in ROWS]


SENDS = [row for row in ROWS if row["name"].startswith("SEND_") and row["kind"] != "response"]


@pytest.mark.parametrize("row", SENDS, ids=[row["origin"] for row in SENDS])
def test_a_captured_send_is_scanned_as_it_is_decoded(row: dict[str, Any]) -> None:
    frames = current(bytes.fromhex(row["frame"]))
    scanned, taken = (SendHeader(), MessageDraft()), (SendHeader(), MessageDraft())
    is_send = row["name"] in ("SEND_MESSAGE_V2", "SEND_BATCH_MESSAGE")
    assert scanned[0].scan(frames, scanned[1]) == is_send
    if is_send:
        taken[0].take(decode(frames), frames, taken[1])
        assert send_values(*scanned) == send_values(*taken)


# The specification's own vectors.


ROUTE = (
    b'{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"JAVA","opaque":1,'
    b'"serializeTypeCurrentRPC":"JSON","version":479}'
)


def test_the_route_request_has_the_bytes_of_the_specification_in_both_forms() -> None:
    request = RemotingCommand(105, opaque=1, version=479, ext_fields={"topic": "TopicTest"})
    assert b"".join(encode(request)) == bytes.fromhex("0000008700000083") + ROUTE
    request.serialize_type = BINARY_TYPE
    assert b"".join(encode(request)) == bytes.fromhex(
        "0000002d 01000029 0069 00 01df 00000001 00000000 00000000 00000014"
        "0005 746f706963 00000009 546f70696354657374"
    )


# Clients that were not recorded, in the manner in which they write.


def test_requests_in_the_manner_of_go() -> None:
    fields = {"consumerGroup": "g", "topic": "T", "queueId": "0", "subscription": ""}
    command = decoded(frame(go_header(11, fields)))
    assert (command.language, command.version, command.remark) == ("GO", 317, "")
    assert command.ext_fields == fields


def test_requests_in_the_manner_of_cpp() -> None:
    """Numbers beside text, a newline that counts, a signature with no key, an empty group."""
    command = decoded(
        frame(
            cpp_header(
                35,
                {"AccessKey": "", "OnsChannel": "ALIYUN", "consumerGroup": "", "queueId": 3},
            ),
            b"{}\n",
        )
    )
    assert (command.language, command.version) == ("CPP", 63)
    assert command.ext_fields == {
        "AccessKey": "",
        "OnsChannel": "ALIYUN",
        "consumerGroup": "",
        "queueId": "3",
    }
    assert bytes(command.body) == b"{}\n"


def test_requests_in_the_manner_of_node() -> None:
    command = decoded(frame(node_header(310, {"b": "T", "d": 4, "g": 1700000000000, "k": False})))
    assert (command.language, command.version) == ("JAVA", 121)
    assert command.ext_fields == {"b": "T", "d": "4", "g": "1700000000000", "k": "false"}


def test_an_answer_holds_nothing_that_go_or_cpp_cannot_read() -> None:
    """Every ext value is text, in JSON because the request was."""
    request = decoded(frame(cpp_header(14, {"queueId": 3})))
    data = b"".join(encode(reply_to(request, 0, ext_fields={"offset": "0"})))
    assert data[4] == JSON_TYPE
    assert plain_header(data)["extFields"] == {"offset": "0"}
    assert plain_header(data)["language"] == "JAVA"
