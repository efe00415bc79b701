"""`aerobee group …`: consumer groups: their lag, their members, and resets of their offsets.

Lag is in messages, and never below 0. A group whose members subscribe to a topic differently loses
messages: `describe` reports it, and `subscriptions` exits with 4.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_noun,
    add_verb,
    add_watch,
    add_where,
    asked,
    do,
    do_with_care,
    show,
    show_report,
    whole_from,
)
from aerobee.cli.commands.offset_reset import add_reset, check_group, reset
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import OK, UNHEALTHY, Record, Whole, WrongUse
from aerobee.errors import Misuse
from aerobee.model.group import PRIORITY_FACTOR
from aerobee.model.names import is_system_group

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.client.admin.connections import Consumers
    from aerobee.model.group import GroupConfig

_EXAMPLES = """\
  aerobee group list                              every group and its lag
  aerobee group describe billing --watch          queue by queue, with who has it
  aerobee group members billing                   who is connected
  aerobee group subscriptions billing             what its members want, and whether they agree
  aerobee group create billing --retries 5
  aerobee group reset billing orders --to earliest
  aerobee group reset billing orders --to 2h --dry-run
  aerobee group delete billing --dry-run
"""
# In whose name tools read, who keep no progress.
READERS = ("AEROBEE_READER", "AEROBEE_PIPELINE")
_AT_ONCE = 32


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "group", "consumer groups: lag, members, offsets", _EXAMPLES)
    listing = add_verb(verbs, "list", "every group and its lag", list_groups)
    listing.add_argument("--all", action="store_true", help="the system's own, too")
    add_watch(listing)
    for name, text, verb in (
        ("describe", "how far a group is, queue by queue, and who has which", describe),
        ("members", "the clients of a group that are connected", list_members),
        ("subscriptions", "what its members want; status 4 if they differ", list_subscriptions),
    ):
        parser = add_verb(verbs, name, text, verb)
        parser.add_argument("group")
        add_watch(parser)
    making = add_verb(verbs, "create", "make a group", create)
    _add_settings(making)
    changing = add_verb(verbs, "update", "change a group; what is not named stays", update)
    _add_settings(changing)
    resetting = add_verb(verbs, "reset", "send a group to another place of a topic", reset)
    add_reset(resetting)
    add_care(resetting)
    deleting = add_verb(verbs, "delete", "delete a group, with where it was", delete)
    deleting.add_argument("group")
    deleting.add_argument("--keep-offsets", action="store_true", help="and its retries")
    add_where(deleting)
    add_care(deleting)


def list_groups(parsed: argparse.Namespace) -> int:
    import asyncio

    async def ask(admin: "Admin") -> list[Record]:
        progress = await admin.groups.progress_of_all()
        names = [
            name
            for name in sorted({*progress, *await admin.groups.names()})
            if parsed.all or not (is_system_group(name) or name in READERS)
        ]
        members: dict[str, int] = {}
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            found = await asyncio.gather(*map(admin.connections.client_ids, some))
            members.update(zip(some, map(len, found), strict=True))
        records: list[Record] = []
        for name in names:
            one = progress.get(name)
            topics = one.topics() if one else {}
            records.append(
                {
                    "group": name,
                    "members": members[name],
                    "lag": one.lag if one else 0,
                    "in_flight": one.in_flight if one else 0,
                    "receives_per_s": one.messages_a_second if one else 0.0,
                    "topics": sorted(topic for topic in topics if not topic.startswith("%")),
                }
            )
        return records

    return show(parsed, ask, empty="no group; the first consumer makes one")


def describe(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> Record:
        await check_group(admin, parsed.group)
        progress = await admin.groups.progress(parsed.group)
        there = await admin.connections.consumers(parsed.group)
        owners = await admin.connections.owners(parsed.group) if there.clients else {}
        config = next(iter((await admin.groups.config(parsed.group)).values()))
        report: dict[str, object] = {
            "group": parsed.group,
            "state": "online" if there.clients else "nobody is connected",
            "members": len(there.clients),
            "manner": there.manner.message_model.name.lower() if there.manner else None,
            "lag": progress.lag,
            "in_flight": progress.in_flight,
            "receives_per_s": progress.messages_a_second,
            "retries_max": config.retries_max,
            "is_enabled": config.is_enabled,
            "is_ordered": config.is_orderly,
            "priority_factor": config.priority_factor,
            "mismatches": _disagreements(there),
            "queues": [
                {
                    "topic": queue.topic,
                    "broker": queue.broker_name,
                    "queue": queue.queue_id,
                    "at": one.consumer_offset,
                    "next": one.broker_offset,
                    "lag": max(0, one.lag),
                    "owner": owners.get(queue),
                    "last_consumed": shown_ms(one.last_timestamp),
                }
                for queue, one in sorted(progress.queues.items())
            ],
        }
        return report

    return show_report(parsed, ask)


def list_members(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        await check_group(admin, parsed.group)
        found = await admin.connections.consumers(parsed.group)
        owners = await admin.connections.owners(parsed.group) if found.clients else {}
        return [
            {
                "client": one.client_id,
                "address": Whole(one.address),
                "protocol": one.protocol_type,
                "language": one.language,
                "version": one.version,
                "queues": sum(owner == one.client_id for owner in owners.values()),
            }
            for one in found.clients
        ]

    return show(parsed, ask, empty=f"no member of {parsed.group} is connected")


def list_subscriptions(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        await check_group(admin, parsed.group)
        found = await admin.connections.consumers(parsed.group)
        records: list[Record] = []
        for one in found.subscriptions:
            agreed: dict[str, tuple[str, ...]] = {f"{one.expression_type}: {one.expression}": ()}
            for said, clients in (found.mismatches.get(one.topic) or agreed).items():
                kind, _, expression = said.partition(": ")
                records.append(
                    {
                        "topic": one.topic,
                        "expression": expression,
                        "type": kind,
                        "is_agreed": one.topic not in found.mismatches,
                        "clients": list(clients),
                    }
                )
        return records

    empty = f"no member of {parsed.group} is connected"
    return show(parsed, ask, empty=empty, status=_agreement)


def create(parsed: argparse.Namespace) -> int:
    async def act(admin: "Admin") -> None:
        from aerobee.model.group import GroupConfig

        if parsed.group in await admin.groups.names():
            raise Misuse(f"{parsed.group} is there already", hint="`aerobee group update`")
        await admin.groups.put(_changed(GroupConfig(parsed.group), parsed), on=parsed.on)

    return do(parsed, act, f"{parsed.group} is made")


def update(parsed: argparse.Namespace) -> int:
    from aerobee.model.group import GroupConfig

    said = (parsed.enable, parsed.broadcast)
    if _changed(GroupConfig("any"), parsed) == GroupConfig("any") and said == (None, None):
        raise WrongUse("nothing is to be changed", hint="say --retries, --order, --disable …")

    async def act(admin: "Admin") -> None:
        await check_group(admin, parsed.group)
        for broker, config in (await admin.groups.config(parsed.group, on=parsed.on)).items():
            await admin.groups.put(_changed(config, parsed), on=broker)

    return do(parsed, act, f"{parsed.group} is changed")


def delete(parsed: argparse.Namespace) -> int:
    asked(parsed, lambda admin: check_group(admin, parsed.group))

    async def act(admin: "Admin") -> None:
        await admin.groups.delete(parsed.group, keep_offsets=parsed.keep_offsets, on=parsed.on)

    rest = "" if parsed.keep_offsets else ", where it was, its retries and its dead letters"
    effect = f"delete the group {parsed.group}{rest}"
    return do_with_care(parsed, act, effect, f"{parsed.group} is deleted")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument(
        "--retries", type=whole_from(0), metavar="N", help="before a dead letter (16)"
    )
    parser.add_argument("--order", action="store_true", default=None, help="it keeps order")
    parser.add_argument(
        "--timeout", type=whole_from(1), metavar="MINUTES", help="of one message (15)"
    )
    parser.add_argument(
        "--enable",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether anybody of it may consume (yes)",
    )
    parser.add_argument(
        "--broadcast",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether its members may each consume everything (yes)",
    )
    parser.add_argument(
        "--priority-factor",
        type=whole_from(0),
        metavar="PERCENT",
        help="of its pops of PRIORITY topics that go by priority (100); 0: queues take turns",
    )
    add_where(parser)


def _changed(config: "GroupConfig", parsed: argparse.Namespace) -> "GroupConfig":
    said = {
        "retries_max": parsed.retries,
        "is_orderly": parsed.order,
        "consume_timeout_minutes": parsed.timeout,
        "is_enabled": parsed.enable,
        "may_broadcast": parsed.broadcast,
    }
    # Attributes are changes: those that are there stay.
    factor = parsed.priority_factor
    attributes = {} if factor is None else {f"+{PRIORITY_FACTOR}": str(factor)}
    changes = {name: value for name, value in said.items() if value is not None}
    return replace(config, **changes, attributes=attributes)


def _disagreements(there: "Consumers") -> list[str]:
    return [
        f"{topic}: "
        + " but ".join(f"{said!r} by {', '.join(clients)}" for said, clients in by_text.items())
        for topic, by_text in there.mismatches.items()
    ]


def _agreement(records: Sequence[Record]) -> int:
    return OK if all(record["is_agreed"] for record in records) else UNHEALTHY
