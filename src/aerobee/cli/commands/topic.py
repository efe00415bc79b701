"""`aerobee topic …`: creates, shows, changes and deletes topics.

Retry, dead-letter and system topics are listed on request only. A change that takes something away
(queues, a permission, the topic) is confirmed first.
"""

import argparse
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
from aerobee.cli.moments import shown_ms
from aerobee.cli.output import Record, WrongUse
from aerobee.cli.setting_changes import pairs_in
from aerobee.errors import Misuse
from aerobee.model.names import DEAD_LETTER_PREFIX, RETRY_PREFIX

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.model.topic import TopicConfig

_EXAMPLES = """\
  aerobee topic list                            what there is
  aerobee topic create orders --queues 8        on every broker
  aerobee topic create seats --type FIFO
  aerobee topic describe orders                 how it is set up, and who consumes it
  aerobee topic status orders --watch           where its queues begin and end
  aerobee topic route orders                    where clients are sent
  aerobee topic update orders --permission R    nobody may send any more
  aerobee topic create ledger --static --queues 12     as many, whatever brokers there are
  aerobee topic move ledger --on broker-c       its queues, to other brokers
  aerobee topic delete orders --dry-run
"""
_TYPES = ("NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "MIXED")
_TYPE = "message.type"
_PERMISSIONS = {"RW": 6, "R": 4, "W": 2}


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "topic", "topics: make, look at, change, delete", _EXAMPLES)
    listing = add_verb(verbs, "list", "the topics of a cluster", list_topics)
    listing.add_argument("--all", action="store_true", help="retries, dead letters and system, too")
    add_watch(listing)
    describing = add_verb(verbs, "describe", "how a topic is set up, and who consumes it", describe)
    describing.add_argument("topic")
    add_watch(describing)
    status = add_verb(verbs, "status", "where its queues begin and end", show_queues)
    status.add_argument("topic")
    add_watch(status)
    routing = add_verb(verbs, "route", "where clients are sent", route)
    routing.add_argument("topic")
    making = add_verb(verbs, "create", "make a topic", create)
    making.add_argument("topic")
    making.add_argument(
        "--queues", type=whole_from(1), default=8, metavar="N", help="on each broker (8)"
    )
    making.add_argument(
        "--static",
        action="store_true",
        help="a fixed number of queues on all brokers together, which can be moved",
    )
    making.add_argument("--type", type=str.upper, choices=_TYPES, help="what its messages are")
    making.add_argument("--order", action="store_true", help="queues stay where they are")
    making.add_argument("--if-missing", action="store_true", help="one that is there is fine")
    _add_attributes(making)
    add_where(making)
    changing = add_verb(verbs, "update", "change a topic; what is not named stays", update)
    changing.add_argument("topic")
    changing.add_argument("--queues", type=int, metavar="N", help="both, on each broker")
    changing.add_argument("--read-queues", type=int, metavar="N")
    changing.add_argument("--write-queues", type=int, metavar="N")
    changing.add_argument("--permission", choices=tuple(_PERMISSIONS))
    changing.add_argument("--unset", action="append", default=[], metavar="NAME")
    _add_attributes(changing)
    add_where(changing)
    add_care(changing)
    moving = add_verb(verbs, "move", "move the queues of a static topic to brokers", move)
    moving.add_argument("topic")
    add_where(moving)
    add_care(moving)
    deleting = add_verb(verbs, "delete", "delete a topic, with its messages", delete)
    deleting.add_argument("topic")
    add_where(deleting)
    add_care(deleting)


def shown_permission(permission: int) -> str:
    return ("R" if permission & 4 else "-") + ("W" if permission & 2 else "-")


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
                "type": found[0].attributes.get(_TYPE, "NORMAL"),
                "brokers": len(found),
                "queues": sum(config.write_queues for config in found),
                "permission": shown_permission(found[0].permission),
            }
            for name, found in sorted(configs.items())
            if parsed.all
            or not (name in hidden or name.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX)))
        ]

    return show(parsed, ask, empty="no topic; `aerobee topic create NAME` makes one")


def describe(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> Record:
        configs = await admin.topics.config(parsed.topic)
        stats = await admin.topics.stats(parsed.topic)
        one = next(iter(configs.values()))
        report: dict[str, object] = {
            "topic": parsed.topic,
            "type": one.attributes.get(_TYPE, "NORMAL"),
            "order": one.is_order,
            **({"static": f"{len(stats.logical)} logical queues"} if stats.logical else {}),
            "attributes": dict(one.attributes),
            "messages": sum(max(0, q.max_offset - q.min_offset) for q in stats.queues.values()),
            "sends_per_s": stats.sends_a_second,
            "last_stored": shown_ms(max((q.stored_ms for q in stats.queues.values()), default=0)),
            "groups": await admin.topics.groups(parsed.topic),
            "brokers": [
                {
                    "broker": broker,
                    "read_queues": config.read_queues,
                    "write_queues": config.write_queues,
                    "permission": shown_permission(config.permission),
                }
                for broker, config in sorted(configs.items())
            ],
        }
        return report

    return show_report(parsed, ask)


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
                "last_stored": shown_ms(one.stored_ms),
            }
            for queue, one in sorted({**stats.queues, **stats.logical}.items())
        ]

    return show(parsed, ask, empty=f"{parsed.topic} has no queue")


def route(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        found = await admin.topics.route(parsed.topic)
        brokers = {broker.name: broker for broker in found.brokers}
        records: list[Record] = []
        for queue in found.queues:
            broker = brokers.get(queue.broker_name)
            records.append(
                {
                    "broker": queue.broker_name,
                    "cluster": broker.cluster if broker else None,
                    "addresses": [one for _, one in sorted(broker.addresses.items())]
                    if broker
                    else [],
                    "read": queue.read_queues,
                    "write": queue.write_queues,
                    "permission": shown_permission(queue.permission),
                }
            )
        return records

    return show(parsed, ask)


def create(parsed: argparse.Namespace) -> int:
    attributes = pairs_in(parsed.set, "--set")
    if parsed.type:
        attributes[_TYPE] = parsed.type

    async def act(admin: "Admin") -> None:
        if await admin.topics.exists(parsed.topic):
            if parsed.if_missing:
                return
            raise Misuse(
                f"{parsed.topic} is there already",
                hint="`aerobee topic update` changes it; --if-missing leaves it as it is",
            )
        if parsed.static:
            await admin.topics.static.create(parsed.topic, queues=parsed.queues, on=parsed.on)
            return
        await admin.topics.create(
            parsed.topic,
            queues=parsed.queues,
            is_order=parsed.order,
            attributes=attributes,
            on=parsed.on,
        )

    if parsed.static and (attributes or parsed.order):
        raise WrongUse(
            "--static takes no attributes, type or order", hint="`aerobee topic update` sets them"
        )
    where = "on all brokers together" if parsed.static else "on each broker"
    return do(parsed, act, f"{parsed.topic} has {parsed.queues} queues {where}")


def update(parsed: argparse.Namespace) -> int:
    changes: dict[str, str] = {
        f"+{name}": value for name, value in pairs_in(parsed.set, "--set").items()
    }
    changes.update({f"-{name}": "" for name in parsed.unset})
    reading = parsed.read_queues or parsed.queues
    writing = parsed.write_queues or parsed.queues
    if not (changes or reading or writing or parsed.permission):
        raise WrongUse("nothing is to be changed", hint="say --queues, --permission, --set …")

    def changed(config: "TopicConfig") -> "TopicConfig":
        return replace(
            config,
            read_queues=reading or config.read_queues,
            write_queues=writing or config.write_queues,
            permission=_PERMISSIONS.get(parsed.permission, config.permission),
            attributes=changes,
        )

    if reading or writing:
        found = asked(parsed, lambda admin: admin.topics.route(parsed.topic))
        if found.mappings:
            return _grow(parsed, is_alone=not (changes or parsed.permission))
    known = asked(parsed, lambda admin: admin.topics.config(parsed.topic, on=parsed.on))

    async def act(admin: "Admin") -> None:
        for broker, config in known.items():
            await admin.topics.put(changed(config), on=broker)

    done = f"{parsed.topic} is changed on {', '.join(known)}"
    losses = sorted({loss for one in known.values() for loss in _losses(one, changed(one))})
    if losses or parsed.dry_run:
        effect = f"change {parsed.topic} on {', '.join(known)}"
        return do_with_care(parsed, act, "; ".join([effect, *losses]), done)
    return do(parsed, act, done)


def _grow(parsed: argparse.Namespace, *, is_alone: bool) -> int:
    """Give a static topic more queues."""
    if not is_alone or parsed.read_queues or parsed.write_queues:
        raise WrongUse(
            f"{parsed.topic} is a static topic: it takes --queues alone, the number of all queues"
        )

    async def act(admin: "Admin") -> None:
        await admin.topics.static.create(parsed.topic, queues=parsed.queues, on=parsed.on)

    return do(parsed, act, f"{parsed.topic} has {parsed.queues} queues on all brokers together")


def move(parsed: argparse.Namespace) -> int:
    plan = asked(parsed, lambda admin: admin.topics.static.plan_move(parsed.topic, on=parsed.on))

    async def act(admin: "Admin") -> None:
        await admin.topics.static.apply(plan)

    names = ", ".join(sorted(plan.gaining)) or "no other broker"
    effect = f"move queues of {parsed.topic} from {', '.join(sorted(plan.losing))} to {names}"
    if not plan.gaining:
        effect = f"move no queue of {parsed.topic}: all are where they are to be"
    return do_with_care(parsed, act, effect, f"{parsed.topic} is where it is to be")


def delete(parsed: argparse.Namespace) -> int:
    stats = asked(parsed, lambda admin: admin.topics.stats(parsed.topic, on=parsed.on))
    count = sum(max(0, one.max_offset - one.min_offset) for one in stats.queues.values())

    async def act(admin: "Admin") -> None:
        await admin.topics.delete(parsed.topic, on=parsed.on)

    where = "on " + ", ".join(parsed.on) if parsed.on else "on every broker"
    effect = f"delete the topic {parsed.topic} and its {count} messages {where}"
    return do_with_care(parsed, act, effect, f"{parsed.topic} is deleted")


def _add_attributes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an attribute of the topic: message.type, cleanup.policy, reserve.time (hours)",
    )


def _losses(old: "TopicConfig", new: "TopicConfig") -> list[str]:
    """Return what a change takes away."""
    found = []
    if new.read_queues < old.read_queues:
        found.append(f"messages in queues from {new.read_queues} on can no longer be read")
    if new.write_queues < old.write_queues:
        found.append(f"queues from {new.write_queues} on take no more messages")
    for bit, text in ((4, "nobody may read it any more"), (2, "nobody may send to it any more")):
        if old.permission & bit and not new.permission & bit:
            found.append(text)
    return found
