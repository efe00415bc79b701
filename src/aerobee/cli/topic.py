"""`aerobee topic …`: make topics, look at them, delete them.

Retries, dead letters and what belongs to the system are shown on request only.
"""

import argparse
from typing import TYPE_CHECKING

from aerobee.cli.output import Record
from aerobee.cli.verbs import (
    Verbs,
    add_care,
    add_noun,
    add_verb,
    add_watch,
    do,
    do_with_care,
    show,
)
from aerobee.model.names import DEAD_LETTER_PREFIX, RETRY_PREFIX

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.model.topic import TopicConfig

_EXAMPLES = """\
  aerobee topic list                            what there is
  aerobee topic create orders --queues 8        on every broker
  aerobee topic create seats --type FIFO
  aerobee topic show orders                     where its queues begin and end
  aerobee topic route orders                    where clients are sent
  aerobee topic delete orders --dry-run
"""
_TYPES = ("NORMAL", "FIFO", "DELAY", "TRANSACTION")


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "topic", "topics: make, look at, delete", _EXAMPLES)
    listing = add_verb(verbs, "list", "the topics of a cluster", list_topics)
    listing.add_argument("--all", action="store_true", help="retries, dead letters and system, too")
    add_watch(listing)
    making = add_verb(verbs, "create", "make a topic, or set it up anew", create)
    making.add_argument("topic")
    making.add_argument("--queues", type=int, default=8, metavar="N", help="on each broker (8)")
    making.add_argument("--type", choices=_TYPES, help="what its messages are")
    showing = add_verb(verbs, "show", "where its queues begin and end", show_queues)
    showing.add_argument("topic")
    add_watch(showing)
    routing = add_verb(verbs, "route", "where clients are sent", route)
    routing.add_argument("topic")
    deleting = add_verb(verbs, "delete", "delete a topic, with its messages", delete)
    deleting.add_argument("topic")
    add_care(deleting)


def list_topics(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        hidden = set() if parsed.all else set(await admin.topics.system_names())
        configs: dict[str, list[TopicConfig]] = {}
        for on_broker in (await admin.topics.configs()).values():
            for config in on_broker:
                configs.setdefault(config.name, []).append(config)
        return [
            {
                "topic": name,
                "brokers": len(found),
                "queues": sum(config.write_queues for config in found),
                "type": found[0].attributes.get("message.type", "NORMAL"),
            }
            for name, found in sorted(configs.items())
            if parsed.all
            or not (name in hidden or name.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX)))
        ]

    return show(parsed, ask, empty="no topic; `aerobee topic create NAME` makes one")


def create(parsed: argparse.Namespace) -> int:
    attributes = {"message.type": parsed.type} if parsed.type else None

    async def act(admin: "Admin") -> None:
        await admin.topics.create(parsed.topic, queues=parsed.queues, attributes=attributes)

    return do(parsed, act, f"{parsed.topic} has {parsed.queues} queues on each broker")


def show_queues(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        stats = await admin.topics.stats(parsed.topic)
        return [
            {
                "broker": queue.broker_name,
                "queue": queue.queue_id,
                "first": one.min_offset,
                "next": one.max_offset,
                "messages": one.max_offset - one.min_offset,
            }
            for queue, one in sorted(stats.queues.items())
        ]

    return show(parsed, ask, empty=f"{parsed.topic} has no queue")


def route(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        found = await admin.topics.route(parsed.topic)
        addresses = {broker.name: broker.addresses for broker in found.brokers}
        return [
            {
                "broker": queue.broker_name,
                "address": ", ".join(addresses.get(queue.broker_name, {}).values()),
                "read": queue.read_queues,
                "write": queue.write_queues,
                "permission": queue.permission,
            }
            for queue in found.queues
        ]

    return show(parsed, ask)


def delete(parsed: argparse.Namespace) -> int:
    async def act(admin: "Admin") -> None:
        await admin.topics.route(parsed.topic)  # what is not there cannot be deleted
        await admin.topics.delete(parsed.topic)

    effect = f"delete the topic {parsed.topic} and its messages on every broker"
    return do_with_care(parsed, act, effect, f"{parsed.topic} is deleted")
