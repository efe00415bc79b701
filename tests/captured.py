"""Frames recorded between real clients and Apache 5.5.0, by the name of their request."""

import json
from pathlib import Path

from aerobee.protocol.frame import FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, decode

_PATH = Path(__file__).parent / "vectors" / "frames.jsonl"


def captured(name: str, kind: str) -> list[RemotingCommand]:
    """All of one kind: `request`, `oneway` or `response`. There is at least one."""
    found = []
    for line in _PATH.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["name"] == name and row["kind"] == kind:
            frames = FrameReader()
            frames.receive(bytes.fromhex(row["frame"]))
            assert frames.advance()
            found.append(decode(frames))
    assert found, f"no {kind} {name} was recorded"
    return found
