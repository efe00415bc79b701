"""Dead letters: the groups that have some, their messages by reason, and sending them again.

A reason is the one that a consumer of Aerobee's rejected the message for, or else what a dead
letter tells of itself: its topic, and how often it was tried.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.dead_letters import origin_of
from aerobee.console.api.listing import LIST, Row, page_of
from aerobee.console.http.action import GET, POST, Action, Ask, Download, Record
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import Problem, not_found
from aerobee.console.message.message_export import FORMATS, NDJSON, exported
from aerobee.console.message.message_rows import host_of, message_row
from aerobee.console.message.message_search import Found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import Catalogue
from aerobee.model.message import StoredMessage
from aerobee.model.names import dead_letter_topic
from aerobee.model.properties import DEAD_LETTER_REASON

SHOWN = 200
SHOWN_MAX = 1_000
RESENT_MAX = 1_000
"""In one call, which lasts as long as the rate says; more take more calls."""
_GROUP = in_path("group", "the name of a consumer group")
_SPAN = (
    Parameter("from", QUERY, "ms since 1970, or earliest", ValueKind.MOMENT, "earliest"),
    Parameter("to", QUERY, "ms since 1970, or latest", ValueKind.MOMENT, "latest"),
)


class DeadLetterPages:
    def __init__(self, admin: Admin, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "listDeadLetters",
                GET,
                "/api/dead-letters",
                Role.VIEWER,
                "Groups that have given messages up",
                self.list,
                LIST,
                command="aerobee dlq list",
                python="await admin.dead_letters.groups()",
            ),
            Action(
                "showDeadLetters",
                GET,
                "/api/dead-letters/{group}",
                Role.VIEWER,
                "The dead letters of a group, and their reasons",
                self.show,
                (_GROUP, *_SPAN, _limit(SHOWN, SHOWN_MAX, QUERY)),
                command="aerobee dlq show {group}",
                python="async for one in admin.dead_letters.of({group!r}): print(one)",
            ),
            Action(
                "exportDeadLetters",
                GET,
                "/api/dead-letters/{group}/export",
                Role.VIEWER,
                "The dead letters of a group as a file",
                self.export,
                (
                    _GROUP,
                    *_SPAN,
                    Parameter("format", QUERY, "of the file", default=NDJSON, choices=FORMATS),
                ),
                is_download=True,
            ),
            Action(
                "resendDeadLetters",
                POST,
                "/api/dead-letters/{group}/resend",
                Role.OPERATOR,
                "Send dead letters to their group again, no faster than a rate",
                self.resend,
                (
                    _GROUP,
                    Parameter("ids", BODY, "only these ids of brokers", ValueKind.TEXTS),
                    _limit(RESENT_MAX, RESENT_MAX, BODY),
                    Parameter(
                        "per_second",
                        BODY,
                        "messages a second",
                        ValueKind.REAL,
                        100.0,
                        bounds=(0.1, 10_000),
                    ),
                ),
                confirm="group",
                has_dry_run=True,
                ends_with_visitor=True,
                command="aerobee dlq resend {group} [{ids+}][--all?-{ids}] [--rate {per_second}]",
                python="await admin.dead_letters.resend_all({group!r}[, limit={limit}]"
                "[, per_second={per_second}])",
            ),
        )

    async def list(self, ask: Ask) -> Record:
        rows = []
        for group in await self._admin.dead_letters.groups():
            count = await self._admin.dead_letters.count(group)
            if count:
                rows.append({"group": group, "count": count})
        return page_of(ask, rows, at=self._wall_ms(), name="group")

    async def show(self, ask: Ask) -> Record:
        group, limit = ask.text("group"), ask.whole("limit")
        await self._check(group)
        names = await self._catalogue.broker_names()
        rows: list[Row] = []
        async for message in self._letters(ask, limit):
            broker = names.get(host_of(message), host_of(message))
            origin = {"origin_topic": origin_of(message), "reason": reason_of(message)}
            rows.append({**message_row(message, broker), **origin})
        count = await self._admin.dead_letters.count(group)
        unknown = {}
        if count > len(rows):
            unknown["rows"] = f"{len(rows)} of {count} are shown"
        return {
            "at": self._wall_ms(),
            "group": group,
            "count": count,
            "reasons": reasons(rows),
            "rows": rows,
            "unknown": unknown,
        }

    async def export(self, ask: Ask) -> Download:
        group, form = ask.text("group"), ask.text("format")
        await self._check(group)

        async def found() -> AsyncIterator[Found]:
            async for message in self._letters(ask, None):
                yield Found(message, host_of(message))

        return Download(f"dead-letters.{form}", exported(found(), form))

    async def resend(self, ask: Ask) -> Record:
        group, ids = ask.text("group"), set(ask.texts("ids"))
        await self._check(group)
        limit = ask.whole("limit")
        letters = [
            one
            async for one in self._admin.dead_letters.of(group, limit=None if ids else limit)
            if not ids or one.offset_message_id in ids
        ][:limit]
        if ask.is_dry:
            text = f"send {len(letters):,} dead letters to {group} again"
            return {"would": text, "preview": {"count": len(letters)}}
        count = 0
        try:
            for one in letters:
                if count:
                    await asyncio.sleep(1 / ask.real("per_second"))
                await self._admin.dead_letters.resend(one, group=group)
                count += 1
        except asyncio.CancelledError:
            why = f"stopped: {count:,} of {len(letters):,} were sent to {group} again"
            raise Problem(400, "stopped", why) from None
        return {"done": f"{count:,} dead letters were sent to {group} again", "count": count}

    async def _check(self, group: str) -> None:
        if group not in await self._catalogue.groups():
            self._catalogue.forget()  # it may have been made a moment ago
            known = {*await self._catalogue.groups(), *await self._catalogue.topics()}
            if not known & {group, dead_letter_topic(group)}:
                raise not_found(f"there is no group {group!r}")

    def _letters(self, ask: Ask, limit: int | None) -> AsyncIterator[StoredMessage]:
        return self._admin.dead_letters.of(
            ask.text("group"), start=ask.moment("from"), end=ask.moment("to"), limit=limit
        )


def reason_of(message: StoredMessage) -> str:
    """Return the reason that a consumer of Aerobee's gave, or else what the message shows."""
    told = message.properties.get(DEAD_LETTER_REASON)
    return told or f"topic {origin_of(message)}, {message.reconsume_times} retries"


def reasons(rows: list[Row]) -> list[Row]:
    """Return the rows grouped by reason, the most frequent first."""
    found: dict[str, Row] = {}
    for row in rows:
        new = {"reason": row["reason"], "topic": row["origin_topic"], "count": 0, "last_stored": 0}
        one = found.setdefault(row["reason"], new)
        one["count"] += 1
        one["last_stored"] = max(one["last_stored"], row["stored"])
    return sorted(found.values(), key=lambda one: -one["count"])


def _limit(default: int, most: int, place: str) -> Parameter:
    return Parameter("limit", place, "at most", ValueKind.WHOLE, default, bounds=(1, most))
