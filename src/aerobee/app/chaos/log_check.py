"""Checker of histories: compares what was sent with what is there, and finds every way in which a
log can lie about its messages.

    lost         acknowledged, and not there
    duplicated   sent once, there twice
    reordered    acknowledged before another was sent, and behind it in the same queue
    invented     there, and never sent
    refused      there, although its sender was told that it was not taken
    changed      there with other bytes, or in another queue
    misplaced    there at another queue offset than its sender was told
    hole         offsets of a queue that do not follow one another

A history is a list of `Sent` in the order in which the sends began; what is there is, by queue, a
list of `Found` in the order in which it was read. Messages are told apart by name, a text that the
sender makes unique. After a power cut a log that is flushed now and then may lose its newest
messages, but only as a tail: see `tail_from`.
"""

import itertools
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

Queue = tuple[bytes, int]
"""Topic and queue id."""


class SentOutcome(Enum):
    ACKNOWLEDGED = "acknowledged"
    UNKNOWN = "unknown"  # no answer came: it may be there or not
    REFUSED = "refused"


class Sent(NamedTuple):
    name: bytes
    queue: Queue
    body: bytes
    outcome: SentOutcome
    began: int
    """When the send began, on any clock that only rises."""
    ended: int
    """When its answer came; meaningless without one."""
    offset: int | None = None
    """The queue offset that the sender was told, if it was."""


class Found(NamedTuple):
    name: bytes
    offset: int
    body: bytes


class Anomaly(NamedTuple):
    kind: str
    name: bytes
    detail: str


def check(
    sent: Sequence[Sent], found: Mapping[Queue, Sequence[Found]], tail_from: int | None = None
) -> list[Anomaly]:
    """Everything that is wrong; nothing, for a log that keeps its promises.

    `tail_from`: messages acknowledged at this instant or later may be lost, if nothing is there
    that was sent after their answer.
    """
    by_name = {message.name: message for message in sent}
    assert len(by_name) == len(sent), "names must be unique"
    places: dict[bytes, tuple[Queue, Found]] = {}
    anomalies: list[Anomaly] = []
    for queue, listed in found.items():
        anomalies += _holes(queue, listed)
        for message in listed:
            anomalies += _judge(message, queue, by_name.get(message.name), message.name in places)
            places.setdefault(message.name, (queue, message))
    anomalies += _lost(sent, places, tail_from)
    anomalies += _reordered(sent, places)
    return anomalies


def explain(anomalies: Sequence[Anomaly], count_max: int = 10) -> str:
    """For the message of a failing test."""
    lines = [f"{kind} {name!r}: {detail}" for kind, name, detail in anomalies[:count_max]]
    if len(anomalies) > count_max:
        lines.append(f"and {len(anomalies) - count_max} more")
    return "\n".join(lines)


def _holes(queue: Queue, listed: Sequence[Found]) -> list[Anomaly]:
    return [
        Anomaly("hole", after.name, f"offset {after.offset} follows {before.offset} in {queue}")
        for before, after in itertools.pairwise(listed)
        if after.offset != before.offset + 1
    ]


def _judge(message: Found, queue: Queue, sent: Sent | None, is_again: bool) -> list[Anomaly]:
    """The mistakes of one message by itself."""
    name, offset = message.name, message.offset
    if sent is None:
        return [Anomaly("invented", name, f"at offset {offset} of {queue}")]
    wrong = []
    if is_again:
        wrong.append(Anomaly("duplicated", name, f"again at offset {offset} of {queue}"))
    if sent.outcome is SentOutcome.REFUSED:
        wrong.append(Anomaly("refused", name, f"at offset {offset} of {queue}"))
    if sent.queue != queue:
        wrong.append(Anomaly("changed", name, f"sent to {sent.queue}, in {queue}"))
    if sent.body != message.body:
        wrong.append(Anomaly("changed", name, f"{message.body[:40]!r}, not {sent.body[:40]!r}"))
    if not is_again and sent.offset is not None and sent.offset != offset:
        wrong.append(Anomaly("misplaced", name, f"told {sent.offset}, at {offset} of {queue}"))
    return wrong


def _lost(
    sent: Sequence[Sent], places: Mapping[bytes, tuple[Queue, Found]], tail_from: int | None
) -> list[Anomaly]:
    # What is there and was sent last: a message that was answered before may not be missing.
    newest_began = max((one.began for one in sent if one.name in places), default=-1)
    lost = []
    for one in sent:
        if one.outcome is not SentOutcome.ACKNOWLEDGED or one.name in places:
            continue
        if tail_from is None or one.ended < tail_from:
            lost.append(Anomaly("lost", one.name, f"acknowledged at {one.ended}"))
        elif one.ended < newest_began:
            lost.append(Anomaly("lost", one.name, "in the middle: later ones are there"))
    return lost


def _reordered(sent: Sequence[Sent], places: Mapping[bytes, tuple[Queue, Found]]) -> list[Anomaly]:
    """By queue, in the order of sending: behind everything that was acknowledged before."""
    wrong = []
    answered: dict[Queue, list[tuple[int, int, bytes]]] = {}
    for one in sent:
        if one.name in places and one.outcome is SentOutcome.ACKNOWLEDGED:
            queue, place = places[one.name]
            answered.setdefault(queue, []).append((one.ended, place.offset, one.name))
    for listed in answered.values():
        listed.sort(reverse=True)
    highest: dict[Queue, tuple[int, bytes]] = {}
    for one in sorted(sent, key=lambda one: one.began):
        if one.name not in places:
            continue
        queue, place = places[one.name]
        earlier = answered.get(queue, [])
        while earlier and earlier[-1][0] < one.began:
            _, offset, name = earlier.pop()
            highest[queue] = max(highest.get(queue, (-1, b"")), (offset, name))
        offset, name = highest.get(queue, (-1, b""))
        if offset > place.offset:
            wrong.append(
                Anomaly("reordered", one.name, f"at {place.offset}, before {name!r} at {offset}")
            )
    return wrong
