"""`aerobee message send`: sends one message, many, or each line of stdin.

    {n}         the number of the message, from 1 on
    {time}      now, as 2026-11-15T12:00:00.000+00:00; {time_ms} in ms since 1970
    {uuid}      a new one each time

These are replaced in the body, in keys, headers and --order-by; doubled braces are literal. Lines
of stdin are sent as they come; empty ones are skipped, since RocketMQ stores no empty bodies.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from aerobee.cli.cluster_verbs import Verbs, add_verb, target_of, whole_from, write_shown
from aerobee.cli.moments import read_moment, read_seconds
from aerobee.cli.output import OK, TABLE, Record, Whole, WrongUse
from aerobee.cli.progress import Progress
from aerobee.cli.setting_changes import pairs_in

if TYPE_CHECKING:
    from aerobee.client.api.receipt import Receipt
    from aerobee.client.client import Client
    from aerobee.client.send.drafts import SendKeywords
    from aerobee.model.message_queue import MessageQueue

_STDIN = "-"
_ROWS_MAX = 20
_TEMPLATE = re.compile(r"\{(\{(?:n|time|time_ms|uuid)\})\}|\{(n|time|time_ms|uuid)\}")


def add_send(verbs: Verbs) -> None:
    sending = add_verb(verbs, "send", "send messages to a topic", send)
    sending.add_argument("topic")
    sending.add_argument("body", help="text, with {n} {time} {uuid}; `-` takes each line of stdin")
    sending.add_argument("--tag", default="")
    sending.add_argument("--key", action="append", default=[], help="may be given more than once")
    sending.add_argument(
        "-H", "--header", action="append", default=[], metavar="NAME=VALUE", help="a property"
    )
    sending.add_argument("--delay", metavar="TIME", help="deliver it so much later: 90, 15m, 2h")
    sending.add_argument("--at", metavar="TIME", help="deliver it then: 2026-11-15T12:00:00")
    sending.add_argument("--order-by", metavar="TEXT", help="equal texts go to the same queue")
    sending.add_argument("--queue", metavar="BROKER:N", help="to this queue")
    sending.add_argument(
        "--priority", type=whole_from(0), metavar="N", help="of a topic of type PRIORITY"
    )
    sending.add_argument("--count", type=int, default=1, metavar="N", help="so many (1)")
    sending.add_argument("--rate", type=float, metavar="N", help="at most so many a second")


def send(parsed: argparse.Namespace) -> int:
    import asyncio

    if parsed.count < 1 or (parsed.rate is not None and parsed.rate <= 0):
        raise WrongUse("--count and --rate are more than nothing")
    if parsed.body == _STDIN and parsed.count != 1:
        raise WrongUse("stdin says how many there are", hint="leave --count out")
    total = None if parsed.body == _STDIN else parsed.count
    with Progress("sent", total) as progress:
        receipts = asyncio.run(_send_all(parsed, progress))
        seconds = progress.seconds
    if parsed.output == TABLE and len(receipts) > _ROWS_MAX:
        rate = len(receipts) / max(seconds, 0.001)
        print(f"{len(receipts)} messages sent in {seconds:.1f} s, {rate:.0f} a second")
    else:
        write_shown(parsed, [_record(one) for one in receipts], empty="nothing to send")
    return OK


def filled(text: str, number: int) -> str:
    """Replace the placeholders in a text."""
    if "{" not in text:
        return text

    def fill(found: re.Match[str]) -> str:
        return found[1] or _FACTS[found[2]](number)

    return _TEMPLATE.sub(fill, text)


async def _send_all(parsed: argparse.Namespace, progress: Progress) -> "list[Receipt]":
    import asyncio

    from aerobee.client.client import connect

    headers = pairs_in(parsed.header, "--header")
    receipts = []
    async with connect(target_of(parsed)) as client:
        common = await _common(parsed, client)
        for number, body in enumerate(_bodies(parsed), 1):
            if parsed.rate is not None:
                await asyncio.sleep((number - 1) / parsed.rate - progress.seconds)
            said: SendKeywords = {
                **common,
                "keys": [filled(key, number) for key in parsed.key],
                "headers": {name: filled(text, number) for name, text in headers.items()},
            }
            if parsed.order_by is not None:
                said["order_by"] = filled(parsed.order_by, number)
            receipts.append(await client.send(parsed.topic, body, **said))
            progress.step()
    return receipts


async def _common(parsed: argparse.Namespace, client: "Client") -> "SendKeywords":
    """Return the fields that all messages have in common."""
    from datetime import datetime

    common: SendKeywords = {"tag": parsed.tag}
    if parsed.delay is not None:
        common["delay"] = read_seconds(parsed.delay, "--delay")
    if parsed.at is not None:
        moment = read_moment(parsed.at, "--at")
        if not isinstance(moment, datetime):
            raise WrongUse(f"--at {parsed.at} is no time", hint="say --at 2026-11-15T12:00:00")
        common["deliver_at"] = moment
    if parsed.priority is not None:
        common["priority"] = parsed.priority
    if parsed.queue is not None:
        common["queue"] = queue_named(parsed.topic, parsed.queue)
        await client.admin.topics.route(parsed.topic)
    return common


def queue_named(topic: str, text: str) -> "MessageQueue":
    """Parse `broker-a:0` as a queue of a topic."""
    from aerobee.model.message_queue import MessageQueue, QueueId

    broker, _, number = text.rpartition(":")
    if not broker or not number.isdigit():
        raise WrongUse(f"--queue {text!r} is no queue", hint="say --queue broker-a:0")
    return MessageQueue(topic, broker, QueueId(int(number)))


def _bodies(parsed: argparse.Namespace) -> Iterator[str]:
    if parsed.body == _STDIN:
        for line in sys.stdin:
            if text := line.rstrip("\r\n"):
                yield text
        return
    for number in range(1, parsed.count + 1):
        yield filled(parsed.body, number)


def _record(receipt: "Receipt") -> Record:
    return {
        "id": Whole(receipt.message_id),
        "broker": receipt.queue.broker_name,
        "queue": receipt.queue.queue_id,
        "offset": receipt.offset,
    }


def _now(number: int) -> str:
    from datetime import datetime

    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def _now_ms(number: int) -> str:
    import time

    return str(time.time_ns() // 1_000_000)


def _uuid(number: int) -> str:
    from uuid import uuid4

    return str(uuid4())


_FACTS: dict[str, Callable[[int], str]] = {
    "n": str,
    "time": _now,
    "time_ms": _now_ms,
    "uuid": _uuid,
}
