import json
from pathlib import Path

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.declared_header import read_header, write_header
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.headers.sending_back import SendBackHeader
from aerobee.protocol.remoting_command import RemotingCommand, decode

FRAMES = Path(__file__).resolve().parents[3] / "vectors/frames.jsonl"


def captured() -> list[RemotingCommand]:
    """What Java's consumers wrote."""
    found = []
    for line in FRAMES.read_text("utf-8").splitlines():
        frame = json.loads(line)
        if (frame["name"], frame["kind"]) == ("CONSUMER_SEND_MSG_BACK", "request"):
            frames = FrameReader()
            frames.receive(bytes.fromhex(frame["frame"]))
            assert frames.advance()
            found.append(decode(frames))
    return found


def test_what_consumers_wrote_is_read_and_written_back_whole() -> None:
    commands = captured()
    assert commands
    for command in commands:
        header = read_header(SendBackHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert header.group.startswith("cg-ret-")
        assert (header.delay_level, header.max_reconsume_times) == (0, 2)
        assert header.unit_mode is False


def test_what_is_not_said_is_left_to_the_broker() -> None:
    header = read_header(SendBackHeader, {"offset": "7", "group": "g"})
    assert (header.delay_level, header.max_reconsume_times, header.origin_topic) == (0, None, None)


@pytest.mark.parametrize("fields", [{"offset": "7"}, {"group": "g"}, {"offset": "x", "group": "g"}])
def test_without_an_offset_and_a_group_there_is_nothing_to_send_back(
    fields: dict[str, str],
) -> None:
    with pytest.raises(RemoteProtocolError):
        read_header(SendBackHeader, fields)
