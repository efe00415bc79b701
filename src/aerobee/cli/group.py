"""`aerobee group …`: consumer groups, how far they are, and sending them elsewhere.

Lag is in messages, and never below 0.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.output import Record
from aerobee.cli.verbs import Verbs, add_care, add_noun, add_verb, add_watch, do_with_care, show
from aerobee.model.names import is_system_group

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

_EXAMPLES = """\
  aerobee group list                              every group, its lag and its members
  aerobee group show billing                      queue by queue
  aerobee group members billing                   who is connected
  aerobee group reset billing orders --to earliest
  aerobee group delete billing --dry-run
"""
# In whose name tools read, who keep no progress.
_READERS = ("AEROBEE_READER", "AEROBEE_PIPELINE")


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "group", "consumer groups: lag, members, offsets", _EXAMPLES)
    listing = add_verb(verbs, "list", "every group and its lag", list_groups)
    listing.add_argument("--all", action="store_true", help="the system's own, too")
    add_watch(listing)
    showing = add_verb(verbs, "show", "how far a group is, queue by queue", show_group)
    showing.add_argument("group")
    add_watch(showing)
    members = add_verb(verbs, "members", "the clients of a group that are connected", list_members)
    members.add_argument("group")
    resetting = add_verb(verbs, "reset", "send a group to another place of a topic", reset)
    resetting.add_argument("group")
    resetting.add_argument("topic")
    resetting.add_argument(
        "--to", required=True, metavar="WHEN", help="earliest, latest, or 2026-11-15T12:00:00"
    )
    add_care(resetting)
    deleting = add_verb(verbs, "delete", "delete a group, with where it was", delete)
    deleting.add_argument("group")
    add_care(deleting)


def list_groups(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return [
            {
                "group": name,
                "topics": sorted(topic for topic in progress.topics() if not topic.startswith("%")),
                "lag": progress.lag,
                "in flight": progress.in_flight,
                "out/s": progress.messages_a_second,
            }
            for name, progress in sorted((await admin.groups.progress_of_all()).items())
            if parsed.all or not (is_system_group(name) or name in _READERS)
        ]

    return show(parsed, ask, empty="no group has consumed anything yet")


def show_group(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        progress = await admin.groups.progress(parsed.group)
        return [
            {
                "topic": queue.topic,
                "broker": queue.broker_name,
                "queue": queue.queue_id,
                "next": one.broker_offset,
                "at": one.consumer_offset,
                "lag": max(0, one.lag),
            }
            for queue, one in sorted(progress.queues.items())
        ]

    return show(parsed, ask, empty=f"{parsed.group} has consumed nothing yet")


def list_members(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        found = await admin.connections.consumers(parsed.group)
        return [
            {
                "client": one.client_id,
                "address": one.address,
                "language": one.language,
                "version": one.version,
            }
            for one in found.clients
        ]

    return show(parsed, ask, empty=f"no member of {parsed.group} is connected")


def reset(parsed: argparse.Namespace) -> int:
    from datetime import datetime

    to: str | datetime = parsed.to
    if parsed.to not in ("earliest", "latest"):
        try:
            to = datetime.fromisoformat(parsed.to).astimezone()
        except ValueError:
            raise SystemExit(
                f"aerobee: --to is earliest, latest or a time like 2026-11-15T12:00:00, "
                f"not {parsed.to!r}"
            ) from None

    async def act(admin: "Admin") -> None:
        await admin.offsets.reset(parsed.group, parsed.topic, to)

    effect = f"send the group {parsed.group} to {parsed.to} in every queue of {parsed.topic}"
    return do_with_care(parsed, act, effect, f"{parsed.group} goes on at {parsed.to}")


def delete(parsed: argparse.Namespace) -> int:
    async def act(admin: "Admin") -> None:
        await admin.groups.delete(parsed.group)

    effect = f"delete the group {parsed.group}, where it was, its retries and its dead letters"
    return do_with_care(parsed, act, effect, f"{parsed.group} is deleted")
