"""Delayed messages: when they are due, as counts and as a list, and the recall of one.

Of a delay level, which is due in the order of its queue, some messages are looked at and the rest
is spread between them. Of messages with a time, those that came to the timer last are looked at;
the answer says if there are more.
"""

import asyncio
from collections.abc import Callable

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.delayed import DelayedMessage, DelayLevelQueue
from aerobee.console.api.listing import Row
from aerobee.console.http.action import GET, POST, Action, Ask, Record
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind
from aerobee.console.message.message_rows import message_row
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import or_none
from aerobee.console.watch.catalogue import Catalogue
from aerobee.console.watch.due_times import DuePoint, DueTimes

INTERVALS = 30
RANGE_MS = 3_600_000
RANGE_MS_MAX = 30 * 86_400_000
READ = 32
"""The next messages of a level that are read."""
POINTS = 8
"""Messages of a long level that are looked at, further back."""
TIMED = 1_000
"""Messages with a time that are looked at, of all brokers together."""
SHOWN, SHOWN_MAX = (200, 1_000)


class DelayedPages:
    def __init__(self, admin: Admin, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._delayed = admin.messages.delayed
        self._catalogue = catalogue
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        spans = (60_000, RANGE_MS_MAX)
        return (
            Action(
                "listDelayed",
                GET,
                "/api/delayed",
                Role.VIEWER,
                "Messages that wait for their time: how many are due when, and the next ones",
                self.show,
                (
                    Parameter("topic", QUERY, "only rows for this topic"),
                    Parameter(
                        "range_ms", QUERY, "of the counts", ValueKind.WHOLE, RANGE_MS, bounds=spans
                    ),
                    Parameter(
                        "limit",
                        QUERY,
                        "rows at most",
                        ValueKind.WHOLE,
                        SHOWN,
                        bounds=(1, SHOWN_MAX),
                    ),
                ),
                python="await admin.messages.delayed.levels()",
            ),
            Action(
                "recallDelayed",
                POST,
                "/api/delayed/recall",
                Role.ADMIN,
                "Take a message back before its time: it is never delivered",
                self.recall,
                (
                    Parameter("id", BODY, "the sender's id of the message", is_required=True),
                    Parameter("broker", BODY, "that has it", is_required=True),
                    Parameter("topic", BODY, "that it would be in", is_required=True),
                    Parameter(
                        "due",
                        BODY,
                        "its time, ms since 1970",
                        ValueKind.WHOLE,
                        is_required=True,
                        bounds=(0, 2**53),
                    ),
                ),
                confirm="id",
                python="await admin.messages.delayed.recall({broker!r}, {topic!r}, {due}, {id!r})",
            ),
        )

    async def show(self, ask: Ask) -> Record:
        now, unknown = self._wall_ms(), dict[str, str]()
        due = DueTimes(now, ask.whole("range_ms") // INTERVALS, INTERVALS)
        levels = await self._delayed.levels()
        found: list[DelayedMessage] = []
        for messages in await asyncio.gather(*(self._of_level(one, due) for one in levels)):
            found += messages
        timed, is_all = await self._timed(now)
        for one in timed:
            due.add(one.due_ms)
        found += timed
        if not is_all:
            unknown["timed"] = (
                f"of messages with a time only those among the last {TIMED:,} are counted"
            )
        if any(one.waiting > READ for one in levels):
            unknown["counts"] = "long delay levels are counted by some of their messages"
        wanted = ask.text("topic")
        rows = sorted(
            (one for one in found if not wanted or one.topic == wanted), key=lambda one: one.due_ms
        )
        return {
            "at": now,
            "step_ms": due.step_ms,
            "counts": [round(one) for one in due.counts],
            "overdue": round(due.overdue),
            "later": round(due.later),
            "waiting": sum(one.waiting for one in levels) + len(timed),
            "levels": [_level_row(one) for one in levels],
            "rows": [_row(one) for one in rows[: ask.whole("limit")]],
            "unknown": unknown,
        }

    async def recall(self, ask: Ask) -> Record:
        wanted, broker = ask.text("id"), ask.text("broker")
        await self._catalogue.place(broker)
        await self._delayed.recall(broker, ask.text("topic"), ask.whole("due"), wanted)
        return {"done": f"{wanted} was taken back"}

    async def _of_level(self, level: DelayLevelQueue, due: DueTimes) -> list[DelayedMessage]:
        """Count a level, and return its next messages."""
        read = self._delayed.of_level
        found = [one async for one in read(level, limit=READ)]
        points = [DuePoint(one.message.queue_offset, one.due_ms) for one in found]
        rest = level.end - 1 - (level.offset + READ)
        if rest > 0:
            for number in range(1, POINTS + 1):
                offset = level.offset + READ + rest * number // POINTS
                async for one in read(level, start=offset, limit=1):
                    points.append(DuePoint(one.message.queue_offset, one.due_ms))
        due.add_queue(points, level.end)
        return found

    async def _timed(self, now_ms: int) -> tuple[list[DelayedMessage], bool]:
        brokers = await self._catalogue.masters()
        limit = max(1, TIMED // max(1, len(brokers)))
        told = await asyncio.gather(
            *(or_none(self._delayed.timed(one, now_ms, limit=limit)) for one in brokers)
        )
        answers = [answer for answer, _ in told if answer is not None]  # 4.9 has no timer
        return (
            [one for messages, _ in answers for one in messages],
            all(is_all for _, is_all in answers),
        )


def _level_row(level: DelayLevelQueue) -> Row:
    return {**level._asdict(), "waiting": level.waiting}


def _row(one: DelayedMessage) -> Row:
    return {
        **message_row(one.message, one.broker),
        "topic": one.topic,
        "due": one.due_ms,
        "level": one.level or None,
    }
