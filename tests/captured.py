"""Frames recorded between real clients and Apache 5.5.0, by the name of their request."""

import json
from collections.abc import Callable
from pathlib import Path

from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode

_PATH = Path(__file__).parent / "vectors" / "frames.jsonl"


def captured(name: str, kind: str) -> list[RemotingCommand]:
    """All of one kind: `request`, `oneway` or `response`. There is at least one."""
    found = _frames(lambda row: (row["name"], row["kind"]) == (name, kind))
    assert found, f"no {kind} {name} was recorded"
    return found


def captured_at(origin: str) -> RemotingCommand:
    """The one that comes from there."""
    (found,) = _frames(lambda row: row["origin"] == origin)
    return found


def _frames(is_wanted: Callable[[dict[str, str]], bool]) -> list[RemotingCommand]:
    found = []
    for line in _PATH.read_text("utf-8").splitlines():
        row = json.loads(line)
        if is_wanted(row):
            frames = FrameReader()
            frames.receive(bytes.fromhex(row["frame"]))
            assert frames.advance()
            found.append(decode(frames))
    return found
