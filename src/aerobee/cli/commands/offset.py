"""`aerobee offset …`: shows and changes the committed offsets of groups.

A change is shown queue by queue before it is made.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_noun,
    add_verb,
    add_watch,
    do_with_care,
    show,
)
from aerobee.cli.commands.offset_reset import add_reset, check_group, reset
from aerobee.cli.output import Record

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

_EXAMPLES = """\
  aerobee offset show billing                     in all topics that it has consumed of
  aerobee offset show billing --topic orders
  aerobee offset reset billing orders --to 2026-11-15T12:00:00 --dry-run
  aerobee offset reset billing orders --to 42 --queue broker-a:0 --yes
  aerobee offset skip billing orders              leave out what it has not consumed
  aerobee offset clone billing billing-new        begin one group where another is
"""


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "offset", "where groups are in queues", _EXAMPLES)
    showing = add_verb(verbs, "show", "where a group is", show_offsets)
    showing.add_argument("group")
    showing.add_argument("--topic", default="", help="in this one only")
    add_watch(showing)
    resetting = add_verb(verbs, "reset", "send a group to another place of a topic", reset)
    add_reset(resetting)
    add_care(resetting)
    skipping = add_verb(verbs, "skip", "leave out what a group has not consumed yet", reset)
    skipping.add_argument("group")
    skipping.add_argument("topic")
    skipping.set_defaults(to="latest", queue=None)
    add_care(skipping)
    cloning = add_verb(verbs, "clone", "begin one group where another is", clone)
    cloning.add_argument("source")
    cloning.add_argument("target")
    cloning.add_argument("--topic", default="", help="in this one only")
    add_care(cloning)


def show_offsets(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        await check_group(admin, parsed.group)
        if parsed.topic:
            await admin.topics.route(parsed.topic)
        progress = await admin.groups.progress(parsed.group, topic=parsed.topic)
        records: list[Record] = []
        for queue, one in sorted(progress.queues.items()):
            first, _ = await admin.offsets.bounds(queue)
            records.append(
                {
                    "topic": queue.topic,
                    "broker": queue.broker_name,
                    "queue": queue.queue_id,
                    "first": first,
                    "at": one.consumer_offset,
                    "next": one.broker_offset,
                    "lag": max(0, one.lag),
                }
            )
        return records

    return show(parsed, ask, empty=f"{parsed.group} has consumed nothing yet")


def clone(parsed: argparse.Namespace) -> int:
    async def act(admin: "Admin") -> None:
        await check_group(admin, parsed.source)
        await admin.offsets.clone(parsed.source, parsed.target, topic=parsed.topic)

    where = parsed.topic or "all topics of the first"
    effect = f"begin {parsed.target} where {parsed.source} is, in {where}"
    done = f"{parsed.target} goes on where {parsed.source} is"
    return do_with_care(parsed, act, effect, done)
