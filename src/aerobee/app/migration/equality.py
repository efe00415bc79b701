"""Equality of the new broker and its master: ranges of the log, queues, topics, consumer offsets.

Each check asks both sides and raises NotEqual, or returns what it has seen. None changes anything.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from aerobee.app.migration.log_ranges import (
    LogRange,
    first_comparable,
    own_hash,
    spread_ranges,
)
from aerobee.app.migration.master_facts import queue_counts
from aerobee.app.migration.master_stream import piece_hashes
from aerobee.app.migration.queue_counts import count_differences, message_count, older_offsets
from aerobee.client.admin.admin import Admin
from aerobee.errors import AerobeeError

PAUSE_SECONDS = 0.1
TRIES = 100
"""Of a comparison of queues: those of a slave are built a moment after its log."""
_SHOWN = 3


class NotEqual(AerobeeError):
    """The new broker does not have what its master has."""


class Sides(NamedTuple):
    """The two brokers, by the addresses that answer requests."""

    master: str
    own: str


class ComparedLog(NamedTuple):
    pieces: int
    size: int


async def compare_log(
    ha_address: str, root: str, file_bytes: int, bounds: LogRange, *, is_whole: bool
) -> ComparedLog:
    """Compare the hashes of ranges, or of the whole log, between two log offsets."""
    start = first_comparable(root, bounds.start)
    wanted = [LogRange(start, bounds.end)] if is_whole else spread_ranges(start, bounds.end)
    pieces = size = 0
    for one in wanted if start < bounds.end else ():
        async for piece, theirs in piece_hashes(ha_address, one):
            ours = await asyncio.to_thread(own_hash, root, file_bytes, piece)
            if ours != theirs:
                raise NotEqual(
                    f"the log differs between {piece.start} and {piece.end}: SHA-256 {ours} here, "
                    f"{theirs} on the master",
                    hint="keep both stores for examination, and begin with an empty --store",
                )
            pieces += 1
            size += piece.end - piece.start
    return ComparedLog(pieces, size)


async def compare_queues(admin: Admin, sides: Sides) -> tuple[int, int]:
    """Compare the bounds of all queues of all topics; returns the numbers of queues and messages.
    Ours must lie between two answers of the master."""
    differences: list[str] = []
    for _ in range(TRIES):
        configs = (await admin.topics.configs(on=sides.master))[sides.master]
        topics = [one.name for one in configs]
        before = await queue_counts(admin, sides.master, topics)
        await reach(admin, sides.own, await log_end(admin, sides.master))
        own = await queue_counts(admin, sides.own, topics)
        after = await queue_counts(admin, sides.master, topics)
        differences = count_differences(before, own, after)
        if not differences:
            return len(own), message_count(own)
        await asyncio.sleep(PAUSE_SECONDS)
    raise NotEqual(
        f"{len(differences)} queues differ: {_some(differences)}",
        hint="`aerobee broker replicas` shows whether the new broker follows",
    )


async def missing_topics(admin: Admin, sides: Sides) -> list[str]:
    """The topics of the master that the new broker does not have yet."""
    theirs = (await admin.topics.configs(on=sides.master))[sides.master]
    ours = (await admin.topics.configs(on=sides.own))[sides.own]
    return sorted({one.name for one in theirs} - {one.name for one in ours})


async def await_metadata(admin: Admin, sides: Sides, seconds_max: float) -> list[str]:
    """Wait until the topics and consumer offsets that the master has now have been copied. Returns
    the offsets that are still older: their messages are consumed again. NotEqual: a topic is
    missing."""
    wanted = (await admin.offsets.all(on=sides.master))[sides.master]
    missing, older = [""], [""]
    for _ in range(max(1, int(seconds_max / PAUSE_SECONDS))):
        missing = await missing_topics(admin, sides)
        older = older_offsets(wanted, (await admin.offsets.all(on=sides.own))[sides.own])
        if not missing and not older:
            return []
        await asyncio.sleep(PAUSE_SECONDS)
    if missing:
        raise NotEqual(
            f"{len(missing)} topics are not copied: {_some(missing)}",
            hint="the log of the new broker says why",
        )
    return older


async def log_end(admin: Admin, address: str) -> int:
    return (await admin.brokers.runtime(on=address))[address].log_end


async def reach(admin: Admin, address: str, end: int, seconds_max: float = 30.0) -> None:
    """Wait until the log of a broker reaches an offset."""
    here = 0
    for _ in range(int(seconds_max / PAUSE_SECONDS)):
        here = await log_end(admin, address)
        if here >= end:
            return
        await asyncio.sleep(PAUSE_SECONDS)
    raise NotEqual(
        f"the log of {address} ends at {here} and does not reach {end}",
        hint="`aerobee broker replicas` shows whether it follows",
    )


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more
