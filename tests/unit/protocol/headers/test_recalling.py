import json
from pathlib import Path

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.declared_header import read_header, write_header
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.remoting_command import RemotingCommand, decode

FRAMES = Path(__file__).resolve().parents[3] / "vectors/frames.jsonl"


def captured() -> list[RemotingCommand]:
    """What Java's producers wrote."""
    found = []
    for line in FRAMES.read_text("utf-8").splitlines():
        frame = json.loads(line)
        if (frame["name"], frame["kind"]) == ("RECALL_MESSAGE", "request"):
            frames = FrameReader()
            frames.receive(bytes.fromhex(frame["frame"]))
            assert frames.advance()
            found.append(decode(frames))
    return found


def test_what_producers_wrote_is_read_and_written_back_whole() -> None:
    commands = captured()
    assert commands
    for command in commands:
        header = read_header(RecallHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert (header.broker_name, header.producer_group) == ("broker-a", "pg-timer")


@pytest.mark.parametrize("fields", [{"topic": "a"}, {"recallHandle": "a"}, {}])
def test_without_a_topic_and_a_handle_there_is_nothing_to_recall(fields: dict[str, str]) -> None:
    with pytest.raises(RemoteProtocolError):
        read_header(RecallHeader, fields)
