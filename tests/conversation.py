"""Conversations recorded between real clients and Apache's broker: `vectors/broker.jsonl.gz`, which
`tools/broker_vectors.py` makes.
"""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import commands_in

PATH = Path(__file__).parent / "vectors" / "broker.jsonl.gz"


class Event(NamedTuple):
    t: int
    conn: int
    kind: str
    """open, close, say or hear"""
    command: RemotingCommand | None


class Conversation(NamedTuple):
    name: str
    topics: dict[str, TopicConfig]
    """Those whose routes its client got."""
    events: list[Event]

    def said(self) -> Iterator[tuple[int, RemotingCommand]]:
        """Requests of the client: connection and command."""
        for event in self.events:
            command = event.command
            if event.kind == "say" and command is not None and not command.is_response:
                yield event.conn, command

    def heard(self) -> Iterator[tuple[int, RemotingCommand]]:
        """What the broker wrote: connection and command."""
        for event in self.events:
            if event.kind == "hear" and event.command is not None:
                yield event.conn, event.command

    def answers(self) -> dict[tuple[int, int], RemotingCommand]:
        """By connection and opaque."""
        return {(conn, one.opaque): one for conn, one in self.heard() if one.is_response}


@cache
def conversations() -> dict[str, Conversation]:
    found: dict[str, Conversation] = {}
    for line in gzip.decompress(PATH.read_bytes()).splitlines():
        row = json.loads(line)
        if "topics" in row:
            topics = {name: TopicConfig(name, *sizes) for name, sizes in row["topics"].items()}
            found[row["of"]] = Conversation(row["of"], topics, [])
        else:
            commands = commands_in(bytes.fromhex(row["frame"])) if "frame" in row else [None]
            event = Event(row["t"], row["conn"], row["event"], commands[0])
            found[row["of"]].events.append(event)
    return {name: _without_refused(one) for name, one in found.items()}


def _without_refused(conversation: Conversation) -> Conversation:
    """Requests that the recorded broker was too busy for were said again: once is enough."""
    refused = {
        key
        for key, answer in conversation.answers().items()
        if answer.code == ResponseCode.SYSTEM_BUSY
    }
    kept = [
        event
        for event in conversation.events
        if event.command is None or (event.conn, event.command.opaque) not in refused
    ]
    return conversation._replace(events=kept)
