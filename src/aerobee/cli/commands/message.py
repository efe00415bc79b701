"""`aerobee message …`: sends messages, follows a topic, finds messages and resends them.

Reading changes nothing: no group is joined, no offset committed.
"""

import argparse
import contextlib
import re
import sys
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_noun, add_verb, asked, do, show, target_of
from aerobee.cli.commands.message_send import add_send, queue_named
from aerobee.cli.message_view import Tail, body_fields, shown_body, write_messages
from aerobee.cli.moments import read_moment, read_range, shown_ms
from aerobee.cli.output import NOT_FOUND, OK, Record, WrongUse, is_terminal, one_line
from aerobee.errors import NotFound, TopicNotFound
from aerobee.model.names import TRACE_TOPIC

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aerobee.client.admin.admin import Admin
    from aerobee.client.api.message import Message
    from aerobee.model.message import StoredMessage

_EXAMPLES = """\
  aerobee message send orders '{"id": 1}' --tag created --key o-1
  aerobee message send orders '{"id": {n}}' --key o-{n} --count 100 --rate 10
  echo hello | aerobee message send orders -      each line of stdin is a message
  aerobee message send orders later --delay 15m -H source=shell
  aerobee message tail orders                     follow a topic, until Ctrl-C
  aerobee message tail orders --from 2h --count 10 -o ndjson
  aerobee message get orders C0A8000100002A9F0000000000000F00
  aerobee message get orders --key o-1
  aerobee message get orders --from 2h --to 1h --limit 20
  aerobee message get orders@broker-a:0:15        by queue and offset
  aerobee message resend orders C0A8000100002A9F0000000000000F00
  aerobee message trace C0A8000100002A9F0000000000000F00
"""
_PLACE = re.compile(r"(.+)@(.+):(\d+):(\d+)")


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "message", "messages: send, follow, find, send again", _EXAMPLES)
    add_send(verbs)
    tailing = add_verb(verbs, "tail", "follow a topic", tail)
    tailing.add_argument("topic")
    tailing.add_argument(
        "--from", dest="start", default="latest", metavar="TIME", help="earliest, (latest), 15m, …"
    )
    tailing.add_argument("--tags", default="*", metavar="A||B", help="only of these tags")
    tailing.add_argument("--sql", metavar="CONDITION", help='only those: "amount > 100"')
    tailing.add_argument("--count", type=int, metavar="N", help="end after so many")
    getting = add_verb(verbs, "get", "messages by id, key, time or place", get)
    getting.add_argument("topic", metavar="TOPIC|TOPIC@BROKER:QUEUE:OFFSET")
    getting.add_argument("id", nargs="?", help="the sender's or the broker's")
    getting.add_argument("--key", help="those that have it, the newest first")
    getting.add_argument("--from", dest="start", metavar="TIME", help="stored then or later")
    getting.add_argument("--to", dest="end", metavar="TIME", help="stored before")
    getting.add_argument("--tags", default="*", metavar="A||B", help="only of these tags")
    getting.add_argument("--limit", type=int, default=64, metavar="N", help="at most (64)")
    getting.add_argument("--body", action="store_true", help="print the body of one, as it is")
    again = add_verb(verbs, "resend", "send a message once more, with its id", resend)
    again.add_argument("topic", metavar="TOPIC|TOPIC@BROKER:QUEUE:OFFSET")
    again.add_argument("id", nargs="?")
    where = again.add_mutually_exclusive_group()
    where.add_argument("--to", metavar="TOPIC", help="to another topic")
    where.add_argument("--group", help="only to this group, as a retry")
    again.add_argument("--dry-run", action="store_true", help="say what would be done")
    tracing = add_verb(verbs, "trace", "what clients wrote down about a message", trace)
    tracing.add_argument("id")
    tracing.add_argument("--topic", default=TRACE_TOPIC, help=f"of the trace ({TRACE_TOPIC})")


def tail(parsed: argparse.Namespace) -> int:
    import asyncio

    with contextlib.suppress(KeyboardInterrupt):  # that is how it ends
        asyncio.run(_follow(parsed))
    return OK


def get(parsed: argparse.Namespace) -> int:
    is_one = parsed.id is not None or _PLACE.fullmatch(parsed.topic) is not None
    ways = sum((is_one, parsed.key is not None, bool(parsed.start or parsed.end)))
    if ways != 1:
        raise WrongUse(
            "which messages?",
            hint="say an id, --key, --from and --to, or topic@broker:queue:offset",
        )
    if is_one:
        found = [asked(parsed, lambda admin: _find(admin, parsed))]
    else:
        found = asked(parsed, lambda admin: _matching(admin, parsed))
    if parsed.body:
        if len(found) != 1:
            raise WrongUse(
                f"there are {len(found)} messages", hint="--body prints one: give its id"
            )
        sys.stdout.buffer.write(found[0].body)
        return OK
    empty = f"{parsed.topic} has no such message"
    write_messages(parsed, found, empty=empty, is_one=is_one)
    return OK if found or parsed.key is None else NOT_FOUND


def resend(parsed: argparse.Namespace) -> int:
    message = asked(parsed, lambda admin: _find(admin, parsed))
    target = parsed.to or ("" if parsed.group else message.topic)
    where = f"to {target}" if target else f"to the group {parsed.group} only"
    if parsed.dry_run:
        print(f"would send {message.message_id} {where}")
        return OK

    async def act(admin: "Admin") -> None:
        await admin.dead_letters.resend(message, group=parsed.group or "", topic=target)

    return do(parsed, act, f"{message.message_id} is sent again {where}")


def trace(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        from aerobee.client.core.trace_reading import read_steps, steps_of

        try:
            found = await admin.messages.by_key(parsed.topic, parsed.id)
        except TopicNotFound:
            found = []
        steps = steps_of(parsed.id, [step for one in found for step in read_steps(one.body)])
        if not steps:
            raise NotFound(
                f"nobody wrote down anything about {parsed.id} in {parsed.topic}",
                hint="clients do with connect(trace=True), in brokers with traceTopicEnable=true; "
                f"`aerobee explain message {parsed.id}` goes by what brokers know",
            )
        return [
            {
                "time": shown_ms(step.wall_ms),
                "step": step.kind,
                "group": step.group,
                "place": step.place,
                "cost_ms": step.cost_ms,
                "is_success": step.is_success,
                "note": step.note,
            }
            for step in steps
        ]

    return show(parsed, ask)


async def _follow(parsed: argparse.Namespace) -> None:
    from datetime import datetime
    from typing import Literal, cast

    from aerobee.client.client import connect

    start = read_moment(parsed.start, "--from")
    place = cast('datetime | Literal["earliest", "latest"]', start)
    left: int | None = parsed.count
    out = Tail(parsed.output)
    async with connect(target_of(parsed)) as client:
        if parsed.sql:
            reader = client.reader(parsed.topic, start=place, sql=parsed.sql)
        else:
            reader = client.reader(parsed.topic, start=place, tags=parsed.tags)
        async with reader:
            if is_terminal(sys.stdout) and is_terminal(sys.stderr):
                queues = len(reader.queues)
                print(f"following {parsed.topic}, {queues} queues; Ctrl-C ends it", file=sys.stderr)
            messages: AsyncIterator[Message] = aiter(reader)
            while left is None or left > 0:
                message = await anext(messages)
                out.write(_tailed(message), _line(message))
                left = None if left is None else left - 1


async def _find(admin: "Admin", parsed: argparse.Namespace) -> "StoredMessage":
    """Return the one message with an id, or at an offset of a queue."""
    place = _PLACE.fullmatch(parsed.topic)
    if place is not None:
        topic = place[1]
        await admin.topics.route(topic)
        queue = queue_named(topic, f"{place[2]}:{place[3]}")
        found = await admin.queues.at(queue, int(place[4]))
    elif parsed.id is None:
        raise WrongUse("which message?", hint="say its id, or topic@broker:queue:offset")
    else:
        found = await admin.messages.find(parsed.topic, parsed.id)
    if found is None:
        what = parsed.topic if place else f"{parsed.id} in {parsed.topic}"
        raise NotFound(
            f"there is no message {what}",
            hint="it may have expired; `aerobee topic status` shows which offsets there are",
        )
    return found


async def _matching(admin: "Admin", parsed: argparse.Namespace) -> "list[StoredMessage]":
    if parsed.key is not None:
        return await admin.messages.by_key(parsed.topic, parsed.key, limit=parsed.limit)
    start, end = read_range(parsed.start, parsed.end, "--to")
    reading = admin.messages.between(
        parsed.topic, start=start, end=end, tags=parsed.tags, limit=parsed.limit
    )
    return [message async for message in reading]


def _tailed(message: "Message") -> Record:
    return {
        "id": message.message_id,
        "stored": shown_ms(message.store_timestamp),
        "queue": f"{message.queue.broker_name}:{message.queue.queue_id}",
        "offset": message.offset,
        "tag": message.tag,
        "keys": list(message.keys),
        "headers": dict(message.headers),
        "body": None,
        "body_base64": None,
        **body_fields(message.body),
    }


def _line(message: "Message") -> str:
    queue = f"{message.queue.broker_name}:{message.queue.queue_id}@{message.offset}"
    keys = " ".join(message.keys) or "-"
    text = f"{shown_ms(message.store_timestamp)}  {queue}  {message.tag or '-'}  {keys}"
    return one_line(f"{text}  {shown_body(message.body)}")
