"""`aerobee message …`: send messages, follow a topic, find one again.

What is shown of a body is text; what is no text is shown as bytes, and cut.
"""

import argparse
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from aerobee.cli.output import NOT_FOUND, OK, Record, write_error, write_records
from aerobee.cli.verbs import Verbs, add_noun, add_verb, show, target_of
from aerobee.errors import AerobeeError

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.client.message import Message
    from aerobee.model.message import StoredMessage

_EXAMPLES = """\
  aerobee message send orders '{"id": 1}' --tag created --key o-1
  echo hello | aerobee message send orders -      each line of stdin is a message
  aerobee message tail orders                     follow a topic, until Ctrl-C
  aerobee message tail orders --from earliest --count 10 -o ndjson
  aerobee message get orders C0A8000100002A9F0000000000000F00
  aerobee message find orders --key o-1
"""
_BODY_CHARS = 60


def add_to(nouns: Verbs) -> None:
    verbs = add_noun(nouns, "message", "messages: send, follow, find", _EXAMPLES)
    sending = add_verb(verbs, "send", "send messages to a topic", send)
    sending.add_argument("topic")
    sending.add_argument("body", help="text; `-` takes each line of stdin")
    sending.add_argument("--tag", default="")
    sending.add_argument("--key", action="append", default=[], help="may be given more than once")
    sending.add_argument("--delay", type=float, metavar="SECONDS", help="deliver it later")
    sending.add_argument("--order-by", metavar="TEXT", help="equal texts go to the same queue")
    tailing = add_verb(verbs, "tail", "follow a topic", tail)
    tailing.add_argument("topic")
    tailing.add_argument("--from", dest="start", choices=("earliest", "latest"), default="latest")
    tailing.add_argument("--tags", default="*", metavar="A||B", help="only of these tags")
    tailing.add_argument("--count", type=int, metavar="N", help="end after so many")
    getting = add_verb(verbs, "get", "one message by its id, the sender's or the broker's", get)
    getting.add_argument("topic")
    getting.add_argument("id")
    finding = add_verb(verbs, "find", "messages that have a key, the newest first", find)
    finding.add_argument("topic")
    finding.add_argument("--key", required=True)
    finding.add_argument("--count", type=int, default=16, metavar="N", help="at most (16)")


def send(parsed: argparse.Namespace) -> int:
    import asyncio

    async def send_all() -> list[Record]:
        from aerobee.client.client import connect

        records: list[Record] = []
        async with connect(target_of(parsed)) as client:
            for body in _bodies(parsed.body):
                receipt = await client.send(
                    parsed.topic,
                    body,
                    tag=parsed.tag,
                    keys=parsed.key,
                    delay=parsed.delay,
                    order_by=parsed.order_by,
                )
                records.append(
                    {
                        "id": receipt.message_id,
                        "broker": receipt.queue.broker_name,
                        "queue": receipt.queue.queue_id,
                        "offset": receipt.offset,
                    }
                )
        return records

    try:
        records = asyncio.run(send_all())
    except AerobeeError as error:
        return write_error(error, parsed.output, sys.stderr)
    write_records(records, parsed.output, sys.stdout, empty="nothing to send")
    return OK


def tail(parsed: argparse.Namespace) -> int:
    import asyncio

    async def follow() -> None:
        from aerobee.client.client import connect

        left = parsed.count
        options = {"start": parsed.start, "tags": parsed.tags}
        async with (
            connect(target_of(parsed)) as client,
            client.reader(parsed.topic, **options) as reader,
        ):
            messages: AsyncIterator[Message] = aiter(reader)
            while left is None or left > 0:
                message = await anext(messages)
                form = parsed.output if parsed.output != "table" else "line"
                _print_message(message, form)
                left = None if left is None else left - 1

    try:
        asyncio.run(follow())
    except KeyboardInterrupt:
        return OK
    except AerobeeError as error:
        return write_error(error, parsed.output, sys.stderr)
    return OK


def get(parsed: argparse.Namespace) -> int:
    is_there = True

    async def ask(admin: "Admin") -> list[Record]:
        nonlocal is_there
        found = await admin.messages.find(parsed.topic, parsed.id)
        is_there = found is not None
        return [] if found is None else [_record(found)]

    status = show(parsed, ask, empty=f"{parsed.topic} has no message {parsed.id}")
    return status if is_there or status != OK else NOT_FOUND


def find(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        found = await admin.messages.by_key(parsed.topic, parsed.key, limit=parsed.count)
        return [_record(one) for one in found]

    return show(parsed, ask, empty=f"{parsed.topic} has no message with the key {parsed.key}")


def _bodies(said: str) -> Iterator[str]:
    if said != "-":
        yield said
        return
    for line in sys.stdin:
        yield line.rstrip("\n")


def _print_message(message: "Message", form: str) -> None:
    record: Record = {
        "stored": message.stored_at.isoformat(timespec="milliseconds"),
        "queue": f"{message.queue.broker_name}:{message.queue.queue_id}",
        "offset": message.offset,
        "tag": message.tag,
        "keys": list(message.keys),
        "body": _text(message.body),
    }
    if form == "line":
        print(
            f"{record['stored']}  {record['queue']}@{message.offset}  "
            f"{message.tag or '-'}  {' '.join(message.keys) or '-'}  {_text(message.body)}",
            flush=True,
        )
    else:
        write_records([record], form, sys.stdout)
        sys.stdout.flush()


def _record(message: "StoredMessage") -> Record:
    from datetime import UTC, datetime

    stored = datetime.fromtimestamp(message.store_timestamp / 1000, UTC)
    return {
        "id": message.message_id,
        "stored": stored.isoformat(timespec="milliseconds"),
        "queue": message.queue_id,
        "offset": message.queue_offset,
        "tag": message.tag,
        "keys": list(message.keys),
        "attempt": message.reconsume_times + 1,
        "body": _text(message.body),
    }


def _text(body: bytes) -> str:
    """For people: what is no text is shown as what it is."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        shown = body[: _BODY_CHARS // 2].hex()
        return f"0x{shown}{'…' if len(body) > _BODY_CHARS // 2 else ''} ({len(body)} bytes)"
