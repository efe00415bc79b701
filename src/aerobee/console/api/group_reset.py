"""Resets of a group's offsets: the new offsets are computed first, queue by queue; a dry run shows
them, with the messages that would be repeated or skipped, and exactly those are then set.
"""

import asyncio
from typing import NamedTuple

from aerobee.client.admin.admin import Admin
from aerobee.client.core.routes import client_route
from aerobee.console.api.listing import Row
from aerobee.console.http.action import POST, Action, Ask, Record
from aerobee.console.http.parameters import BODY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import bad_request, not_found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import Catalogue
from aerobee.model.message_queue import MessageQueue


class ResetStep(NamedTuple):
    queue: MessageQueue
    at: int | None
    """The group's present offset; None: it has not consumed of this queue yet."""
    to: int

    @property
    def repeated(self) -> int:
        return max(0, (self.at or 0) - self.to)

    @property
    def skipped(self) -> int:
        return max(0, self.to - (self.at or 0))


class GroupResetPages:
    def __init__(self, admin: Admin, catalogue: Catalogue) -> None:
        self._admin = admin
        self._catalogue = catalogue

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "resetOffsets",
                POST,
                "/api/groups/{group}/reset",
                Role.OPERATOR,
                "Move a group to a moment in all queues of a topic, or to an offset of one",
                self.reset,
                (
                    in_path("group", "the name of a consumer group"),
                    Parameter("topic", BODY, "that it consumes", is_required=True),
                    Parameter("to", BODY, "earliest, latest or ms since 1970", ValueKind.MOMENT),
                    Parameter("broker", BODY, "of one queue"),
                    Parameter("queue", BODY, "its number", ValueKind.WHOLE, bounds=(0, 2**31)),
                    Parameter("offset", BODY, "in it", ValueKind.WHOLE, bounds=(0, 2**53)),
                ),
                confirm="group",
                has_dry_run=True,
                command="aerobee group reset {group} {topic} --to {to@}",
                python="await admin.offsets.reset({group!r}, {topic!r}, {to!r})",
            ),
        )

    async def reset(self, ask: Ask) -> Record:
        group, topic = ask.text("group"), ask.text("topic")
        if group not in await self._catalogue.groups():
            raise not_found(f"there is no group {group!r}")
        steps = await self._steps(ask, group, topic)
        preview = {
            "queues": [_row(one) for one in steps],
            "repeated": sum(one.repeated for one in steps),
            "skipped": sum(one.skipped for one in steps),
        }
        effect = (
            f"{len(steps)} queues of {topic}: {preview['repeated']:,} messages are consumed again,"
            f" {preview['skipped']:,} are skipped"
        )
        if ask.is_dry:
            return {"would": f"move {group} in {effect}", "preview": preview}
        await asyncio.gather(
            *(self._admin.offsets.reset_queue(group, one.queue, one.to) for one in steps)
        )
        return {"done": f"{group} was moved in {effect}", **preview}

    async def _steps(self, ask: Ask, group: str, topic: str) -> list[ResetStep]:
        route = client_route(topic, await self._admin.topics.route(topic))
        broker, number = ask.maybe_text("broker"), ask.maybe_whole("queue")
        chosen = [
            one
            for one in route.readable
            if (broker is None or one.broker_name == broker)
            and (number is None or one.queue_id == number)
        ]
        if not chosen:
            raise not_found(f"{topic} has no such queue")
        offset = ask.maybe_whole("offset")
        if (offset is None) == (ask.given.get("to") is None):
            raise bad_request("say either to or offset")
        if offset is not None and len(chosen) > 1:
            raise bad_request("an offset is of one queue", hint="say broker and queue, too")

        async def step(queue: MessageQueue) -> ResetStep:
            at = await self._admin.offsets.committed(group, queue)
            if offset is None:
                return ResetStep(
                    queue, at, await self._admin.offsets.at_time(queue, ask.moment("to"))
                )
            first, end = await self._admin.offsets.bounds(queue)
            return ResetStep(queue, at, min(max(offset, first), end))

        return list(await asyncio.gather(*map(step, chosen)))


def _row(step: ResetStep) -> Row:
    return {
        "broker": step.queue.broker_name,
        "queue": step.queue.queue_id,
        "from": step.at,
        "to": step.to,
        "repeated": step.repeated,
        "skipped": step.skipped,
    }
