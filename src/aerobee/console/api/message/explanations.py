"""Explanations: why a message was not consumed, what a group does, and what to do next.

The same judgement as `aerobee explain` (docs/explain.md): facts are gathered, then judged. What
judges is imported by the first who asks: a console starts without it.
"""

from collections.abc import Callable, Iterable

from aerobee.app.explaining.findings import Cause, CauseFinding
from aerobee.client.admin.admin import Admin
from aerobee.console.api.listing import Row
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.http.parameters import QUERY, Parameter, in_path
from aerobee.console.session.visitor import Role

_CALM = {
    Cause.WELL: "ok",
    Cause.CONSUMED: "ok",
    Cause.BROADCAST: "info",
    Cause.DELAYED: "info",
    Cause.IN_HAND: "info",
}


class ExplanationPages:
    def __init__(self, admin: Admin, wall_ms: Callable[[], int]) -> None:
        self._admin = admin
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "explainGroup",
                GET,
                "/api/groups/{group}/explain",
                Role.VIEWER,
                "What a group does, what is wrong, and what to do next",
                self.group,
                (in_path("group", "the name of a consumer group"),),
                command="aerobee explain group {group}",
            ),
            Action(
                "explainMessage",
                GET,
                "/api/messages/{topic}/{id}/explain",
                Role.VIEWER,
                "Why a message was not consumed, by group",
                self.message,
                (
                    in_path("topic", "the name of a topic"),
                    in_path("id", "the sender's or the broker's id of a message"),
                    Parameter("group", QUERY, "only this one"),
                ),
                command="aerobee explain message {id} --topic {topic} [--group {group}]",
            ),
        )

    async def group(self, ask: Ask) -> Record:
        from aerobee.app.explaining.gathering import Gathering
        from aerobee.app.explaining.group_causes import explain_group

        facts = await Gathering(self._admin, self._wall_ms).group(ask.text("group"))
        return self._told(explain_group(facts), group=facts.group)

    async def message(self, ask: Ask) -> Record:
        from aerobee.app.explaining.gathering import Gathering
        from aerobee.app.explaining.message_causes import explain_message

        gathering = Gathering(self._admin, self._wall_ms)
        facts, groups = await gathering.message(
            ask.text("id"), topic=ask.text("topic"), group=ask.text("group")
        )
        return self._told(explain_message(facts, groups), message=facts.message_id)

    def _told(self, findings: Iterable[CauseFinding], **of: str) -> Record:
        rows = [finding_row(one) for one in findings]
        return {"at": self._wall_ms(), **of, "findings": rows, "unknown": {}}


def finding_row(finding: CauseFinding) -> Row:
    return {
        "cause": finding.cause.value,
        "text": finding.text,
        "next": finding.next,
        "group": finding.group or None,
        "severity": _CALM.get(finding.cause, "warning"),
    }
