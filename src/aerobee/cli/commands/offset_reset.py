"""Resets of a group's offsets: the common code of `group reset`, `offset reset` and `offset skip`.

The new offsets are computed first, queue by queue, then shown and confirmed; exactly those are then
set.
"""

import argparse
import sys
from typing import TYPE_CHECKING, NamedTuple

from aerobee.cli.cluster_verbs import agrees, asked, write_shown
from aerobee.cli.moments import read_place
from aerobee.cli.output import FAILED, OK, TABLE, Record, WrongUse, width_of, write_records
from aerobee.errors import NotFound

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.client.admin.offsets import Moment
    from aerobee.model.message_queue import MessageQueue

TO_HELP = "earliest, latest, 2026-11-15T12:00:00, so long ago (15m, 2h, 3d) or an offset (42)"


class Step(NamedTuple):
    queue: "MessageQueue"
    at: int | None
    """Where the group is; None: it has not consumed of it yet."""
    to: int


def add_reset(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a verb that resets."""
    parser.add_argument("group")
    parser.add_argument("topic")
    parser.add_argument("--to", required=True, metavar="PLACE", help=TO_HELP)
    parser.add_argument(
        "--queue",
        action="append",
        metavar="BROKER:N",
        help="only in this queue; may be given more than once",
    )


def reset(parsed: argparse.Namespace) -> int:
    """Show the new offsets, ask, set them, print the result."""
    place = read_place(parsed.to, "--to")
    steps = asked(parsed, lambda admin: _plan(admin, parsed, place))
    records = [_record(step) for step in steps]
    if parsed.dry_run:
        write_shown(parsed, records)
        return OK
    if not parsed.yes and parsed.output == TABLE:
        width = width_of(sys.stderr, is_wide=parsed.wide)
        write_records(records, TABLE, sys.stderr, width=width)
    effect = f"send the group {parsed.group} to {parsed.to} in {len(steps)} queues"
    if not agrees(parsed, f"{effect} of {parsed.topic}"):
        return FAILED
    asked(parsed, lambda admin: _act(admin, parsed, place, steps))
    write_shown(parsed, records)
    return OK


async def check_group(admin: "Admin", group: str) -> None:
    """NotFound: no broker has the group. Some brokers would create it when asked for it by name."""
    if group not in await admin.groups.names():
        raise NotFound(
            f"no broker has a group {group!r}",
            hint="`aerobee group list` shows what there is, `aerobee group create` makes one",
        )


async def _plan(admin: "Admin", parsed: argparse.Namespace, place: "Moment") -> list[Step]:
    from aerobee.client.core.routes import client_route

    await check_group(admin, parsed.group)
    route = client_route(parsed.topic, await admin.topics.route(parsed.topic))
    chosen = _chosen(parsed, list(route.readable))
    steps = []
    for queue in chosen:
        at = await admin.offsets.committed(parsed.group, queue)
        if isinstance(place, int):
            first, end = await admin.offsets.bounds(queue)
            to = min(max(place, first), end)
        else:
            to = await admin.offsets.at_time(queue, place)
        steps.append(Step(queue, at, to))
    return steps


async def _act(
    admin: "Admin", parsed: argparse.Namespace, place: "Moment", steps: list[Step]
) -> None:
    if isinstance(place, int) or parsed.queue:
        for step in steps:
            await admin.offsets.reset_queue(parsed.group, step.queue, step.to)
    else:
        await admin.offsets.reset(parsed.group, parsed.topic, place)


def _chosen(parsed: argparse.Namespace, queues: "list[MessageQueue]") -> "list[MessageQueue]":
    if not parsed.queue:
        return queues
    by_name = {f"{queue.broker_name}:{queue.queue_id}": queue for queue in queues}
    for name in parsed.queue:
        if ":" not in name:
            raise WrongUse(f"--queue {name!r} is no queue", hint="say --queue broker-a:0")
        if name not in by_name:
            there = ", ".join(by_name)
            raise NotFound(f"{parsed.topic} has no queue {name}", hint=f"it has: {there}")
    return [by_name[name] for name in parsed.queue]


def _record(step: Step) -> Record:
    return {
        "broker": step.queue.broker_name,
        "queue": step.queue.queue_id,
        "at": step.at,
        "to": step.to,
        "again": max(0, (step.at or 0) - step.to),
        "left_out": max(0, step.to - (step.at or 0)),
    }
