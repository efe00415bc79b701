"""`steps_of` reads trace messages of any RocketMQ client: a body → the steps of messages.

    record ␂ record ␂ …        ␂ is 0x02, fields of a record are separated by ␁, 0x01

    Pub              time, region, group, topic, id, tags, keys, store host, body size, cost ms,
                     kind, [offset id,] success, [client host]
    SubBefore        time, region, group, request, id, retries, keys, [client host]
    SubAfter         request, id, cost ms, success, keys, code, [time, group]
    EndTransaction   time, region, group, topic, id, tags, keys, store host, kind, transaction,
                     state, from check

Agrees with Java's TraceDataEncoder, of old clients too. SubAfter and its SubBefore have the same
request. A batch is one Pub with the ids of all its messages, joined by commas. Records that cannot
be read are left out: a trace is for people, and clients differ.
"""

from typing import NamedTuple

from aerobee.client.core.trace_records import FIELD_END, RECORD_END

BATCH_ID_END = ","
SENT, RECEIVED, CONSUMED, ENDED = ("sent", "received", "consumed", "ended")


class TraceStep(NamedTuple):
    """One traced step of a message: sent, received, consumed, or its transaction ended."""

    kind: str
    message_id: str
    group: str
    wall_ms: int
    """When it began; 0: it is not told."""
    cost_ms: int | None
    is_success: bool | None
    """None: there is nothing to succeed in."""
    place: str
    """The broker that stored it, or the client that had it."""
    note: str
    request: str = ""
    """What ties together that a message was received and what became of it."""


def read_steps(body: bytes) -> list[TraceStep]:
    found = []
    for text in body.decode(errors="replace").split(RECORD_END):
        fields = text.split(FIELD_END)
        try:
            step = _READERS[fields[0]](fields)
        except (KeyError, IndexError, ValueError):
            continue
        found.append(step)
    return found


def steps_of(message_id: str, steps: list[TraceStep]) -> list[TraceStep]:
    """The steps of one message, in order. A SubAfter of an old client, without time and group,
    takes those of its SubBefore.
    """
    begun = {step.request: step for step in steps if step.kind == RECEIVED}
    own = []
    for step in steps:
        if step.message_id != message_id:
            if step.kind != SENT or message_id not in step.message_id.split(BATCH_ID_END):
                continue
            step = step._replace(note=f"{step.note}, in a batch")
        start = begun.get(step.request) if step.kind == CONSUMED else None
        if start is not None:
            wall_ms = step.wall_ms or start.wall_ms + (step.cost_ms or 0)
            step = step._replace(
                wall_ms=wall_ms, group=step.group or start.group, place=step.place or start.place
            )
        own.append(step)
    return sorted(own, key=lambda step: step.wall_ms)


def _sent(fields: list[str]) -> TraceStep:
    is_success = fields[13] if len(fields) >= 14 else fields[12]
    return TraceStep(
        SENT,
        fields[5],
        fields[3],
        int(fields[1]),
        int(fields[10]),
        is_success == "true",
        fields[8],
        f"{fields[9]} bytes to {fields[4]}",
    )


def _received(fields: list[str]) -> TraceStep:
    place = fields[8] if len(fields) > 8 else ""
    note = f"attempt {int(fields[6]) + 1}"
    return TraceStep(
        RECEIVED, fields[5], fields[3], int(fields[1]), None, None, place, note, fields[4]
    )


def _consumed(fields: list[str]) -> TraceStep:
    has_time = len(fields) >= 9
    return TraceStep(
        CONSUMED,
        fields[2],
        fields[8] if has_time else "",
        int(fields[7]) if has_time else 0,
        int(fields[3]),
        fields[4] == "true",
        "",
        "",
        fields[1],
    )


def _ended(fields: list[str]) -> TraceStep:
    note = fields[11] + (" after a check" if fields[12] == "true" else "")
    return TraceStep(ENDED, fields[5], fields[3], int(fields[1]), None, True, fields[8], note)


_READERS = {"Pub": _sent, "SubBefore": _received, "SubAfter": _consumed, "EndTransaction": _ended}
