"""Topics: the list, one topic with its queues and groups, and changes of topics.

The list has the sampler's figures; the page of one topic asks its brokers.
"""

import asyncio
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from aerobee.client.admin.admin import Admin
from aerobee.client.api.receipt import Receipt
from aerobee.console.api.listing import LIST, Row, page_of_entries
from aerobee.console.http.action import DELETE, GET, PATCH, POST, Action, Ask, Record
from aerobee.console.http.parameters import (
    BODY,
    BODY_CHARS_MAX,
    QUERY,
    Parameter,
    ValueKind,
    in_path,
)
from aerobee.console.http.problem import Problem, bad_request, not_found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import KINDS, NORMAL, Catalogue, TopicEntry, permission_word
from aerobee.console.watch.sampler import Sampler
from aerobee.errors import AerobeeError
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import check_topic
from aerobee.model.topic import MESSAGE_TYPE, QUEUES_MAX, TopicConfig
from aerobee.protocol.bodies.topic_stats import QueueStats

QUEUES = 8
TYPES = ("NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "MIXED", "UNSPECIFIED")
PERMISSIONS = {"rw": 6, "r": 4, "w": 2, "-": 0}
ALL = "all"
OLDEST_ASKED_MAX = 64
"""Queues of one topic that are asked for their oldest message."""

_TOPIC = in_path("topic", "the name of a topic")
_ON = Parameter("on", BODY, "only this broker or cluster")


class SendMessage(Protocol):
    """Sends a message as an application would."""

    async def __call__(
        self,
        topic: str,
        body: bytes,
        *,
        tag: str,
        keys: list[str],
        properties: Mapping[str, str],
        delay_seconds: float,
    ) -> Receipt: ...


class TopicPages:
    def __init__(
        self,
        admin: Admin,
        catalogue: Catalogue,
        sampler: Sampler,
        send: SendMessage,
        wall_ms: Callable[[], int],
    ) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._sampler = sampler
        self._send = send
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (*self._reading(), *self._changing(), *self._sending())

    def _reading(self) -> tuple[Action, ...]:
        return (
            Action(
                "listTopics",
                GET,
                "/api/topics",
                Role.VIEWER,
                "Topics, with their rates and sizes",
                self.list,
                (
                    *LIST,
                    Parameter("kind", QUERY, "of topics", default=NORMAL, choices=(*KINDS, ALL)),
                ),
                command="aerobee topic list",
                python="await admin.topics.names()",
            ),
            Action(
                "showTopic",
                GET,
                "/api/topics/{topic}",
                Role.VIEWER,
                "A topic: settings, queues, groups",
                self.show,
                (_TOPIC,),
                command="aerobee topic describe {topic}",
                python="await admin.topics.stats({topic!r})",
            ),
        )

    def _changing(self) -> tuple[Action, ...]:
        queues = (1, QUEUES_MAX)
        words = tuple(PERMISSIONS)
        return (
            Action(
                "createTopic",
                POST,
                "/api/topics",
                Role.OPERATOR,
                "Create a topic",
                self.create,
                (
                    Parameter("name", BODY, "of the new topic", is_required=True),
                    Parameter(
                        "queues", BODY, "on each broker", ValueKind.WHOLE, QUEUES, bounds=queues
                    ),
                    Parameter("permission", BODY, "read, write", default="rw", choices=words),
                    Parameter("type", BODY, "of its messages", default="NORMAL", choices=TYPES),
                    _ON,
                ),
                of="name",
                command="aerobee topic create {name} [--queues {queues}] [--type {type}]"
                " [--on {on}][ && aerobee topic update {name} --permission R?{permission=r}]"
                "[ && aerobee topic update {name} --permission W?{permission=w}]",
                python="await admin.topics.create({name!r}[, queues={queues}]"
                "[, permission=4?{permission=r}][, permission=2?{permission=w}]"
                "[, attributes={'message.type': {type!r}}][, on={on!r}])",
            ),
            Action(
                "changeTopic",
                PATCH,
                "/api/topics/{topic}",
                Role.OPERATOR,
                "Change the settings of a topic",
                self.change,
                (
                    _TOPIC,
                    Parameter("queues", BODY, "on each broker", ValueKind.WHOLE, bounds=queues),
                    Parameter("permission", BODY, "read, write", choices=words),
                    Parameter(
                        "attributes",
                        BODY,
                        '{"+name": value} sets, {"-name": ""} removes',
                        ValueKind.TABLE,
                    ),
                    _ON,
                ),
                has_dry_run=True,
                of="topic",
                command="aerobee topic update {topic} [--queues {queues}]"
                " [--permission RW?{permission=rw}] [--permission R?{permission=r}]"
                " [--permission W?{permission=w}] [--on {on}]",
            ),
            Action(
                "deleteTopic",
                DELETE,
                "/api/topics/{topic}",
                Role.ADMIN,
                "Delete a topic with its messages",
                self.delete,
                (_TOPIC,),
                confirm="topic",
                has_dry_run=True,
                command="aerobee topic delete {topic}",
                python="await admin.topics.delete({topic!r})",
            ),
        )

    def _sending(self) -> tuple[Action, ...]:
        return (
            Action(
                "sendMessage",
                POST,
                "/api/topics/{topic}/messages",
                Role.OPERATOR,
                "Send a message to a topic",
                self.send,
                (
                    _TOPIC,
                    Parameter("body", BODY, "a text", chars_max=BODY_CHARS_MAX),
                    Parameter("body_base64", BODY, "or bytes", chars_max=2 * BODY_CHARS_MAX),
                    Parameter("tag", BODY, "of the message"),
                    Parameter("keys", BODY, "by which it is found", ValueKind.TEXTS),
                    Parameter("properties", BODY, "of the application", ValueKind.TABLE),
                    Parameter(
                        "delay_seconds",
                        BODY,
                        "until it is delivered",
                        ValueKind.REAL,
                        0.0,
                        bounds=(0, 40 * 86_400),
                    ),
                ),
                of="topic",
                command="aerobee message send {topic} {body} [--tag {tag}] [{keys+--key }]"
                " [--delay {delay_seconds}]",
                python="await client.send({topic!r}, {body!r}[, tag={tag!r}][, keys={keys!r}]"
                "[, delay={delay_seconds}])",
            ),
        )

    # Looking.

    async def list(self, ask: Ask) -> Record:
        self._sampler.look()
        kind = ask.text("kind")
        entries = await self._catalogue.topics()
        chosen = [one for one in entries.values() if kind in (ALL, one.kind)]
        return page_of_entries(ask, chosen, self._row, at=self._wall_ms())

    async def show(self, ask: Ask) -> Record:
        entry = await self._entry(ask.text("topic"))
        self._sampler.look("topic", entry.name)
        on = await self._catalogue.masters_of(entry)
        stats, groups = await asyncio.gather(
            self._admin.topics.stats(entry.name, on=on),
            self._admin.topics.groups(entry.name, on=on),
        )
        oldest = await self._oldest(stats.queues)
        rows = _queue_rows(stats.queues, oldest)
        known = [at for at in oldest.values() if at > 0]
        newest = max((one.stored_ms for one in stats.queues.values()), default=0)
        counts = [row["messages"] for row in rows]
        mean = sum(counts) / len(counts) if counts else 0
        unknown = {}
        if len(oldest) < len(stats.queues):
            unknown["queues.oldest"] = f"asked for {OLDEST_ASKED_MAX} queues only"
        return {
            "at": self._wall_ms(),
            **self._row(entry),
            "configs": [_config_row(name, one) for name, one in sorted(entry.configs.items())],
            "queues": rows,
            "skew": max(counts) / mean if mean else None,
            "messages": sum(counts),
            "span_ms": newest - min(known) if known and newest else None,
            "groups": [
                {
                    "name": name,
                    "lag": self._lag(name, entry.name),
                    "members": _count(self._sampler.members.get(name)),
                }
                for name in groups
            ],
            "unknown": unknown,
        }

    # Changing.

    async def create(self, ask: Ask) -> Record:
        name = ask.text("name")
        check_topic(name)
        if name in await self._catalogue.topics():
            raise Problem(409, "conflict", f"there is a topic {name!r} already")
        kind = ask.text("type")
        brokers = await self._admin.topics.create(
            name,
            queues=ask.whole("queues"),
            permission=PERMISSIONS[ask.text("permission")],
            attributes={MESSAGE_TYPE: kind} if kind not in ("NORMAL", "UNSPECIFIED") else None,
            on=await self._catalogue.place(ask.maybe_text("on")),
        )
        self._catalogue.forget()
        return {"done": f"topic {name} was created", "brokers": brokers}

    async def change(self, ask: Ask) -> Record:
        entry = await self._entry(ask.text("topic"))
        wanted = ask.maybe_text("on")
        queues, word = ask.maybe_whole("queues"), ask.maybe_text("permission")
        attributes = ask.table("attributes")
        if any(name[:1] not in "+-" for name in attributes):
            raise bad_request("an attribute is set as +name and removed as -name")
        changes = []
        for broker, config in sorted(entry.configs.items()):
            if wanted in (None, broker):
                after = replace(
                    config,
                    read_queues=queues or config.read_queues,
                    write_queues=queues or config.write_queues,
                    permission=PERMISSIONS[word] if word else config.permission,
                    attributes=attributes,
                )
                changes.append((broker, config, after))
        if not changes:
            raise not_found(f"{wanted} has no topic {entry.name!r}")
        preview = {"brokers": [_change_row(*one) for one in changes]}
        if ask.is_dry:
            return {"would": f"change {entry.name} on {len(changes)} brokers", "preview": preview}
        for broker, _, after in changes:
            await self._admin.topics.put(after, on=broker)
        self._catalogue.forget()
        return {"done": f"topic {entry.name} was changed", **preview}

    async def delete(self, ask: Ask) -> Record:
        name = (await self._entry(ask.text("topic"))).name
        if ask.is_dry:
            stats, groups = await asyncio.gather(
                self._admin.topics.stats(name), self._admin.topics.groups(name)
            )
            count = sum(one.max_offset - one.min_offset for one in stats.queues.values())
            who = f"; {', '.join(groups)} consume it" if groups else ""
            return {
                "would": f"delete topic {name} with {count:,} messages{who}",
                "preview": {"messages": count, "groups": groups},
            }
        brokers = await self._admin.topics.delete(name)
        self._catalogue.forget()
        return {"done": f"topic {name} was deleted", "brokers": brokers}

    async def send(self, ask: Ask) -> Record:
        receipt = await self._send(
            ask.text("topic"),
            _body(ask),
            tag=ask.text("tag"),
            keys=ask.texts("keys"),
            properties=ask.table("properties"),
            delay_seconds=ask.real("delay_seconds"),
        )
        return {
            "done": f"a message was sent to {ask.text('topic')}",
            "id": receipt.message_id,
            "offset_id": receipt.offset_id,
            "broker": receipt.queue.broker_name,
            "queue": receipt.queue.queue_id,
            "offset": receipt.offset,
        }

    # Parts.

    async def _entry(self, name: str) -> TopicEntry:
        entry = (await self._catalogue.topics()).get(name)
        if entry is None:
            self._catalogue.forget()  # it may have been made a moment ago
            entry = (await self._catalogue.topics()).get(name)
        if entry is None:
            raise not_found(f"there is no topic {name!r}")
        return entry

    def _row(self, entry: TopicEntry) -> Row:
        figures = self._sampler.topics.get(entry.name)
        return {
            "name": entry.name,
            "kind": entry.kind,
            "type": entry.type,
            "queues": entry.queues,
            "brokers": sorted(entry.configs),
            "permission": entry.permission,
            "in": figures.stored if figures is not None else None,
            "out": self._sampler.consumed.get(entry.name),
            "messages": figures.messages if figures is not None else None,
            "groups": self._sampler.consumers.get(entry.name, 0),
            "last_stored": figures.last_stored if figures is not None else None,
        }

    def _lag(self, group: str, topic: str) -> int | None:
        state = self._sampler.groups.get(group)
        return state.lag_in(topic) if state is not None else None

    async def _oldest(self, queues: Mapping[MessageQueue, QueueStats]) -> dict[MessageQueue, int]:
        async def ask(queue: MessageQueue) -> int:
            try:
                return await self._admin.offsets.earliest_ms(queue)
            except AerobeeError:
                return -1

        chosen = list(queues)[:OLDEST_ASKED_MAX]
        return dict(zip(chosen, await asyncio.gather(*map(ask, chosen)), strict=True))


def _queue_rows(
    queues: Mapping[MessageQueue, QueueStats], oldest: Mapping[MessageQueue, int]
) -> list[Row]:
    total = sum(one.max_offset - one.min_offset for one in queues.values())
    return [
        {
            "broker": queue.broker_name,
            "queue": queue.queue_id,
            "start": one.min_offset,
            "end": one.max_offset,
            "messages": one.max_offset - one.min_offset,
            "share": (one.max_offset - one.min_offset) / total if total else 0.0,
            "last_stored": one.stored_ms or None,
            "oldest": at if (at := oldest.get(queue, -1)) > 0 else None,
        }
        for queue, one in queues.items()
    ]


def _config_row(broker: str, config: TopicConfig) -> Row:
    return {
        "broker": broker,
        "read_queues": config.read_queues,
        "write_queues": config.write_queues,
        "permission": permission_word(config.permission),
        "is_order": config.is_order,
        "attributes": dict(config.attributes),
    }


def _change_row(broker: str, before: TopicConfig, after: TopicConfig) -> Row:
    return {
        "broker": broker,
        "queues": {"from": before.write_queues, "to": after.write_queues},
        "permission": {
            "from": permission_word(before.permission),
            "to": permission_word(after.permission),
        },
        "attributes": dict(after.attributes),
    }


def _body(ask: Ask) -> bytes:
    encoded = ask.maybe_text("body_base64")
    if encoded is None:
        return ask.text("body").encode()
    try:
        return b64decode(encoded, validate=True)
    except (NotBase64, ValueError):
        raise bad_request("body_base64 is no base64") from None


def _count(members: frozenset[str] | None) -> int | None:
    return len(members) if members is not None else None
