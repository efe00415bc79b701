"""Messages: found by id, key, time or offset, searched, followed, shown, sent again, exported.

Imports more than 15 modules because a search, a tail, an export and views are in one each.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from aerobee.client.admin.admin import Admin
from aerobee.client.core.trace_reading import read_steps, steps_of
from aerobee.console.api.listing import Row
from aerobee.console.http.action import (
    GET,
    POST,
    Action,
    Ask,
    Download,
    Event,
    EventStream,
    Record,
)
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import Problem, bad_request, not_found
from aerobee.console.message.body_schema import SCHEMA_CHARS_MAX, BodySchema, schema_of
from aerobee.console.message.byte_source import NotOfFormat
from aerobee.console.message.message_export import FORMATS, NDJSON, exported
from aerobee.console.message.message_filter import MessageFilter
from aerobee.console.message.message_rows import body_row, host_of, message_detail, message_row
from aerobee.console.message.message_search import Finished, Found, MessageSearch, SearchWish
from aerobee.console.message.message_tail import Dropped, Following, MessageTail
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import or_none
from aerobee.console.watch.catalogue import Catalogue
from aerobee.errors import TopicNotFound
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import TRACE_TOPIC

FOUND = 64
FOUND_MAX = 1_000
SEARCH_MAX = 10_000
EXPORT_MAX = 100_000
STREAMS_MAX = 50
"""Searches and tails at once."""
_MOMENT = (0, 2**53)
_TOPIC = in_path("topic", "the name of a topic")
_ID = in_path("id", "the sender's or the broker's id of a message")
_OF = Parameter("topic", QUERY, "the name of a topic", is_required=True)
_FILTERS = (
    Parameter("tag", QUERY, "tags: a || b"),
    Parameter("sql", QUERY, "an SQL92 expression over properties"),
    Parameter("text", QUERY, "found in the body, keys, tag or properties"),
    Parameter("regex", QUERY, "the same as a regular expression"),
)
_PLACE = (
    Parameter("broker", QUERY, "only of this one"),
    Parameter("queue", QUERY, "only this queue", ValueKind.WHOLE, bounds=(0, 2**31)),
)
_SCHEMA = (
    Parameter("schema", QUERY, "of bodies: Avro's JSON or a .proto", chars_max=SCHEMA_CHARS_MAX),
    Parameter("schema_type", QUERY, "a message of the .proto; its first, if none is said"),
)
_SPAN = (
    Parameter("from", QUERY, "ms since 1970, or earliest", ValueKind.MOMENT, "earliest"),
    Parameter("to", QUERY, "ms since 1970, or latest", ValueKind.MOMENT, "latest"),
    Parameter("order", QUERY, "of looking", default="newest", choices=("newest", "oldest")),
)


class MessagePages:
    def __init__(self, admin: Admin, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._wall_ms = wall_ms
        self._search = MessageSearch(admin)
        self._tail = MessageTail(admin)
        self._streams = 0

    def actions(self) -> tuple[Action, ...]:
        return (*self._finding(), *self._of_one())

    def _finding(self) -> tuple[Action, ...]:
        return (
            Action(
                "findMessages",
                GET,
                "/api/messages",
                Role.VIEWER,
                "Messages by id, key or offset, or the newest",
                self.find,
                (
                    _OF,
                    Parameter("id", QUERY, "the sender's or the broker's"),
                    Parameter("key", QUERY, "that the sender gave"),
                    *_PLACE,
                    Parameter("offset", QUERY, "in the queue", ValueKind.WHOLE, bounds=_MOMENT),
                    Parameter(
                        "limit", QUERY, "at most", ValueKind.WHOLE, FOUND, bounds=(1, FOUND_MAX)
                    ),
                    *_SCHEMA,
                ),
                command="aerobee message get {topic} [--key {key}]",
                python="await admin.messages.by_key({topic!r}, {key!r})",
            ),
            Action(
                "searchMessages",
                GET,
                "/api/messages/search",
                Role.VIEWER,
                "Messages of a span of time that fit filters, with progress",
                self.search,
                (_OF, *_SPAN, *_PLACE, *_FILTERS, *_SCHEMA, _limit(500, SEARCH_MAX)),
                is_stream=True,
            ),
            Action(
                "tailMessages",
                GET,
                "/api/messages/tail",
                Role.VIEWER,
                "Messages as they are stored, from now on",
                self.tail,
                (_OF, *_FILTERS, *_SCHEMA),
                command="aerobee message tail {topic} [--tags {tag}] [--sql {sql}]",
                is_stream=True,
            ),
            Action(
                "exportMessages",
                GET,
                "/api/messages/export",
                Role.VIEWER,
                "The messages of a search as a file",
                self.export,
                (
                    _OF,
                    *_SPAN,
                    *_PLACE,
                    *_FILTERS,
                    _limit(SEARCH_MAX, EXPORT_MAX),
                    Parameter("format", QUERY, "of the file", default=NDJSON, choices=FORMATS),
                ),
                is_download=True,
            ),
        )

    def _of_one(self) -> tuple[Action, ...]:
        return (
            Action(
                "showMessage",
                GET,
                "/api/messages/{topic}/{id}",
                Role.VIEWER,
                "A message: body in every format, properties, and which groups consumed it",
                self.show,
                (_TOPIC, _ID, *_SCHEMA),
                command="aerobee message get {topic} {id}",
                python="await admin.messages.find({topic!r}, {id!r})",
            ),
            Action(
                "downloadBody",
                GET,
                "/api/messages/{topic}/{id}/body",
                Role.VIEWER,
                "The body of a message as a file",
                self.body,
                (_TOPIC, _ID),
                is_download=True,
            ),
            Action(
                "traceMessage",
                GET,
                "/api/messages/{topic}/{id}/trace",
                Role.VIEWER,
                "What clients wrote down about a message",
                self.trace,
                (_TOPIC, _ID),
                command="aerobee message trace {id}",
            ),
            Action(
                "resendMessage",
                POST,
                "/api/messages/{topic}/{id}/resend",
                Role.OPERATOR,
                "Send a message again, to one group or to a topic",
                self.resend,
                (
                    _TOPIC,
                    _ID,
                    Parameter("group", BODY, "that alone gets it"),
                    Parameter("to", BODY, "or a topic"),
                ),
                of="id",
                command="aerobee message resend {topic} {id} [--group {group}] [--to {to}]",
            ),
        )

    # Finding.

    async def find(self, ask: Ask) -> Record:
        topic, limit, schema = ask.text("topic"), ask.whole("limit"), _schema(ask)
        if ask.text("id"):
            found = await self._admin.messages.find(topic, ask.text("id"))
            messages = [found] if found is not None else []
        elif ask.text("key"):
            messages = await self._admin.messages.by_key(topic, ask.text("key"), limit=limit)
        elif ask.given.get("offset") is not None:
            messages = [one async for one in self._at(ask, limit)]
        else:
            return await self._newest(ask, limit)
        names = await self._catalogue.broker_names()
        rows = [message_row(one, names.get(host_of(one), host_of(one)), schema) for one in messages]
        return {"at": self._wall_ms(), "rows": rows, "unknown": {}}

    async def _at(self, ask: Ask, limit: int) -> AsyncIterator[StoredMessage]:
        broker, number = ask.text("broker"), ask.maybe_whole("queue")
        if not broker or number is None:
            raise bad_request("an offset is of one queue", hint="say broker and queue, too")
        await self._catalogue.place(broker)
        queue = MessageQueue(ask.text("topic"), broker, QueueId(number))
        start = ask.whole("offset")
        async for message in self._admin.queues.read(queue, start=start, limit=limit):
            yield message

    async def _newest(self, ask: Ask, limit: int) -> Record:
        wish = SearchWish(
            ask.text("topic"),
            broker=ask.text("broker"),
            queue=ask.maybe_whole("queue"),
            limit=limit,
        )
        rows: list[Row] = []
        schema = _schema(ask)
        async with aclosing(self._search.run(wish, MessageFilter())) as steps:
            async for step in steps:
                if isinstance(step, Found):
                    rows.append(message_row(step.message, step.broker, schema))
        rows.sort(key=lambda row: -row["stored"])
        return {"at": self._wall_ms(), "rows": rows, "unknown": {}}

    async def search(self, ask: Ask) -> EventStream:
        await self._admin.topics.route(ask.text("topic"))
        return EventStream(self._counted(self._found(_wish(ask), _filter(ask), _schema(ask))))

    async def tail(self, ask: Ask) -> EventStream:
        await self._admin.topics.route(ask.text("topic"))
        followed = self._followed(ask.text("topic"), _filter(ask), _schema(ask))
        return EventStream(self._counted(followed))

    async def export(self, ask: Ask) -> Download:
        topic, form = ask.text("topic"), ask.text("format")
        await self._admin.topics.route(topic)
        found = self._messages(_wish(ask), _filter(ask))
        return Download(f"{_safe(topic)}.{form}", exported(found, form))

    async def _messages(self, wish: SearchWish, wanted: MessageFilter) -> AsyncIterator[Found]:
        async with aclosing(self._search.run(wish, wanted)) as steps:
            async for step in steps:
                if isinstance(step, Found):
                    yield step

    async def _found(
        self, wish: SearchWish, wanted: MessageFilter, schema: BodySchema | None
    ) -> AsyncIterator[Event]:
        async with aclosing(self._search.run(wish, wanted)) as steps:
            async for step in steps:
                match step:
                    case Found():
                        yield Event("message", message_row(step.message, step.broker, schema))
                    case Finished():
                        why = "end" if step.is_complete else "limit"
                        told = {"scanned": step.scanned, "found": step.found}
                        yield Event("done", {**told, "complete": step.is_complete, "why": why})
                    case _:
                        told = {"scanned": step.scanned, "total": step.total}
                        yield Event(
                            "progress", {**told, "found": step.found, "at": step.stored or None}
                        )

    async def _followed(
        self, topic: str, wanted: MessageFilter, schema: BodySchema | None
    ) -> AsyncIterator[Event]:
        async with aclosing(self._tail.run(topic, wanted)) as steps:
            async for step in steps:
                match step:
                    case Following():
                        yield Event("hello", {"at": self._wall_ms(), "queues": step.queues})
                    case Dropped():
                        yield Event("dropped", {"count": step.messages})
                    case Found():
                        yield Event("message", message_row(step.message, step.broker, schema))

    async def _counted(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Hand on a stream, unless there are too many."""
        if self._streams >= STREAMS_MAX:
            raise Problem(429, "too_many", "too many searches run", retry_seconds=10)
        self._streams += 1
        try:
            async for event in events:
                yield event
        finally:
            self._streams -= 1
            await events.aclose()  # type: ignore[attr-defined]

    # One message.

    async def show(self, ask: Ask) -> Record:
        message = await self._message(ask)
        names = await self._catalogue.broker_names()
        broker = names.get(host_of(message), host_of(message))
        tracks, problem = await or_none(self._admin.messages.tracks(message))
        unknown = {"consumed": problem.message} if problem is not None else {}
        return {
            "at": self._wall_ms(),
            "message": message_detail(message, broker),
            "body": body_row(message.body, _schema(ask)),
            "consumed": [
                {"group": group, "state": track.name, "text": track.value}
                for group, track in (tracks or {}).items()
            ],
            "unknown": unknown,
        }

    async def body(self, ask: Ask) -> Download:
        message = await self._message(ask)

        async def pieces() -> AsyncIterator[bytes]:
            yield message.body

        return Download(f"{_safe(message.message_id)}.bin", pieces())

    async def trace(self, ask: Ask) -> Record:
        message_id = ask.text("id")
        try:
            found = await self._admin.messages.by_key(TRACE_TOPIC, message_id)
        except TopicNotFound:
            found = []
        steps = steps_of(message_id, [step for one in found for step in read_steps(one.body)])
        unknown = {}
        if not steps:
            unknown["events"] = (
                "nobody wrote down anything about it: clients do with connect(trace=True), in"
                " brokers with traceTopicEnable=true"
            )
        return {
            "at": self._wall_ms(),
            "events": [
                {
                    "at": one.wall_ms or None,
                    "kind": one.kind,
                    "group": one.group,
                    "client": one.place,
                    "ms": one.cost_ms,
                    "ok": one.is_success,
                    "detail": one.note,
                }
                for one in steps
            ],
            "unknown": unknown,
        }

    async def resend(self, ask: Ask) -> Record:
        group, target = ask.text("group"), ask.text("to")
        if bool(group) == bool(target):
            raise bad_request("say either group or to")
        message = await self._message(ask)
        sent = await self._admin.dead_letters.resend(message, group=group, topic=target)
        return {"done": f"it was sent again to {group or target}", "offset_id": sent}

    async def _message(self, ask: Ask) -> StoredMessage:
        found = await self._admin.messages.find(ask.text("topic"), ask.text("id"))
        if found is None:
            raise not_found(f"there is no message {ask.text('id')} in {ask.text('topic')}")
        return found


def _limit(default: int, most: int) -> Parameter:
    return Parameter("limit", QUERY, "at most", ValueKind.WHOLE, default, bounds=(1, most))


def _wish(ask: Ask) -> SearchWish:
    return SearchWish(
        ask.text("topic"),
        ask.moment("from"),
        ask.moment("to"),
        ask.text("broker"),
        ask.maybe_whole("queue"),
        ask.whole("limit"),
        ask.text("order") == "newest",
    )


def _filter(ask: Ask) -> MessageFilter:
    return MessageFilter(ask.text("tag"), ask.text("sql"), ask.text("text"), ask.text("regex"))


def _schema(ask: Ask) -> BodySchema | None:
    if not ask.text("schema"):
        return None
    try:
        return schema_of(ask.text("schema"), ask.text("schema_type"))
    except NotOfFormat as error:
        hint = "an Avro schema in JSON, or the text of a .proto file"
        raise bad_request(str(error), hint=hint) from None


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)
