"""The record of actions: changes and log-ins through this console, the newest first.

Only the console's own: what other tools change is in the audit trail of the servers.
"""

from collections.abc import Callable

from aerobee.console.api.listing import LIST, page_of
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.http.endpoints import RecordChange
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind
from aerobee.console.session.action_log import ActionEntry, ActionLog
from aerobee.console.session.visitor import Role, Visitor

_MOMENT = (0, 2**53)


class AuditPages:
    def __init__(self, action_log: ActionLog, wall_ms: Callable[[], int]) -> None:
        self._log = action_log
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "listActions",
                GET,
                "/api/audit",
                Role.ADMIN,
                "Changes and log-ins through this console, the newest first",
                self.list,
                (
                    *LIST,
                    Parameter("from", QUERY, "ms since 1970", ValueKind.WHOLE, 0, bounds=_MOMENT),
                    Parameter("to", QUERY, "ms since 1970", ValueKind.WHOLE, bounds=_MOMENT),
                ),
            ),
        )

    async def list(self, ask: Ask) -> Record:
        start, end = ask.whole("from"), ask.maybe_whole("to")
        rows = [
            {**one.record(), "text": f"{one.user or ''} {one.action} {one.of} {one.outcome}"}
            for one in self._log.newest()
            if one.at >= start and (end is None or one.at < end)
        ]
        return page_of(ask, rows, at=self._wall_ms(), name="text")


def recording(action_log: ActionLog, wall_ms: Callable[[], int]) -> RecordChange:
    """Return the function that notes changes in the record of actions."""

    async def record(visitor: Visitor, action: Action, of: str, outcome: str, detail: str) -> None:
        role = visitor.role.word if visitor.role is not None else None
        entry = ActionEntry(
            wall_ms(), visitor.user, role, visitor.address, action.name, of, outcome, detail
        )
        await action_log.add(entry)

    return record
