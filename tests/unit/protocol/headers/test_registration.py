import json
from pathlib import Path

from aerobee.protocol.declared_header import read_header, write_header
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.headers.registration import (
    BrokerPlaceHeader,
    RegisterBrokerHeader,
)
from aerobee.protocol.remoting_command import RemotingCommand, decode

FRAMES = Path(__file__).resolve().parents[3] / "vectors/frames.jsonl"


def captured(name: str, kind: str) -> list[RemotingCommand]:
    """What Apache's broker and name server said."""
    found = []
    for line in FRAMES.read_text("utf-8").splitlines():
        frame = json.loads(line)
        if (frame["name"], frame["kind"]) == (name, kind):
            frames = FrameReader()
            frames.receive(bytes.fromhex(frame["frame"]))
            assert frames.advance()
            found.append(decode(frames))
    assert found, name
    return found


def test_what_apaches_broker_registers_with_is_read_and_written_back_whole() -> None:
    for command in captured("REGISTER_BROKER", "request"):
        header = read_header(RegisterBrokerHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert (header.broker_name, header.broker_id) == ("broker-a", 0)
        assert header.ha_server_addr.endswith(":50912")


def test_what_says_who_asks_is_read_and_written_back_whole() -> None:
    for name in ("UNREGISTER_BROKER", "QUERY_DATA_VERSION"):
        for command in captured(name, "request"):
            header = read_header(BrokerPlaceHeader, command.ext_fields)
            assert write_header(header) == command.ext_fields
