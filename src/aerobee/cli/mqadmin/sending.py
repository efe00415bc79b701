"""Sub-commands that send messages, and print the time it took.

The first send of a series opens connections and is not in the average.
"""

import asyncio
import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from aerobee.cli.mqadmin.command import Call, Command, required
from aerobee.cli.mqadmin.java_text import receipt_text, send_status
from aerobee.cli.mqadmin.options import Option
from aerobee.client.client import connect
from aerobee.client.core.routes import client_route
from aerobee.errors import AerobeeError, Misuse, NotFound
from aerobee.model.message_queue import MessageQueue, QueueId

if TYPE_CHECKING:
    from aerobee.client.client import Client

_CHINA = timedelta(hours=8)  # the zone of the machine-readable lines, wherever they are written
_HELLO = b"hello jodie"
_AMOUNT = Option("a", "amount", "how many (100)")
_SIZE = Option("s", "size", "bytes of each (128)")


async def send_one(call: Call) -> None:
    given = call.given
    topic = given.text("topic")
    queue = None
    if "qid" in given:
        if "broker" not in given:
            raise Misuse("--qid needs its broker", hint="say --broker, too")
        queue = MessageQueue(topic, given.text("broker"), QueueId(given.number("qid")))
    async with connect(call.name_server, trace=given.is_true("msgTraceEnable")) as client:
        receipt = await client.send(
            topic,
            given.text("body").encode(),
            tag=given.text("tags"),
            keys=given.text("key").split(),
            queue=queue,
        )
    call.say(f"{'#Broker Name':<32}  {'#QID':<4}  {'#Send Result':<20}    #MsgId")
    call.say(
        f"{receipt.queue.broker_name:<32}  {receipt.queue.queue_id:<4}  "
        f"{send_status(receipt):<20}    {receipt.message_id}"
    )


async def check_times(call: Call) -> None:
    topic = call.given.text("topic")
    amount, size = call.given.number("amount", 100), call.given.number("size", 128)
    queues = client_route(topic, await call.admin.topics.route(topic)).writable
    if not queues:
        raise Misuse(f"nothing can be sent to {topic}", hint="see its permission: topicRoute")
    call.say(f"{'#Broker Name':<32}  {'#QID':<4}  {'#Send Result':<20}    #RT")
    spent: list[int] = []
    failed: AerobeeError | None = None
    async with connect(call.name_server) as client:
        for queue in itertools.islice(itertools.cycle(queues), amount):
            begun = time.monotonic()
            try:
                await client.send(topic, b"a" * size, queue=queue)
            except AerobeeError as error:
                failed = error
            spent.append(_ms_since(begun))
            call.say(
                f"{queue.broker_name:<32}  {queue.queue_id:<4}  "
                f"{'false' if failed else 'true':<20}    {spent[-1]}"
            )
    call.say(f"Avg RT: {_average(spent):.2f}")
    if failed is not None:
        raise failed


async def send_to_broker(call: Call) -> None:
    """Send to the topic with the name of the broker, or of its cluster and it."""
    topic = call.given.text("brokerName")
    size, count = call.given.number("messageSize", 128), call.given.number("count", 50)
    body = _HELLO * -(-size // len(_HELLO))
    async with connect(call.name_server) as client:
        await client.send(topic, _HELLO * 2, retries=0)
        for _ in range(count):
            begun = time.monotonic()
            receipt = await client.send(topic, body, retries=0)
            call.say(f"rt={_ms_since(begun)}ms, SendResult={receipt_text(receipt)}")


async def watch_clusters(call: Call) -> None:
    """Send for ever, as RocketMQ's tool does, until interrupted."""
    given = call.given
    known = (await call.admin.cluster()).names_by_cluster()
    chosen = given.text("cluster")
    if chosen and chosen not in known:
        there = ", ".join(sorted(known)) or "none"
        raise NotFound(f"cluster [{chosen}] not exist", hint=f"there are: {there}")
    as_log = given.is_true("print log")
    if not as_log:
        call.say(
            f"{'#Cluster Name':<24}  {'#Broker Name':<24}  {'#RT':<4}  {'#successCount':<8}  "
            f"{'#failCount':<8}"
        )
    async with connect(call.name_server) as client:
        while True:
            for cluster in [chosen] if chosen else sorted(known):
                for broker in sorted(known[cluster]):
                    await _say_times(call, client, cluster, broker)
            await asyncio.sleep(given.number("interval", 10))


async def _say_times(call: Call, client: "Client", cluster: str, broker: str) -> None:
    amount, size = call.given.number("amount", 100), call.given.number("size", 128)
    spent: list[int] = []
    failed = 0
    for _ in range(amount):
        begun = time.monotonic()
        try:
            await client.send(broker, b"a" * size)
        except AerobeeError:
            failed += 1
        spent.append(_ms_since(begun))
    average = _average(spent)
    if call.given.is_true("print log"):
        at = datetime.now(UTC) + _CHINA
        room = call.given.text("machine room", "noname")
        call.say(f"{at:%Y-%m-%d %H:%M:%S}|{room}|{cluster}|{broker}|{average:.0f}")
        return
    call.say(f"{cluster:<24}  {broker:<24}  {average:<8.2f}  {amount - failed:<16}  {failed:<16}")


def _ms_since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)


def _average(spent: list[int]) -> float:
    """Return the average without the first send, which opens connections."""
    return sum(spent[1:]) / (len(spent) - 1) if len(spent) > 1 else float(sum(spent))


COMMANDS = (
    Command(
        "sendMessage",
        "Send a message.",
        (
            required(Option("t", "topic", "the topic")),
            required(Option("p", "body", "its text")),
            Option("k", "key", "its keys, with spaces in between"),
            Option("c", "tags", "its tag"),
            Option("b", "broker", "with -i: the broker's name"),
            Option("i", "qid", "with -b: the queue"),
            Option("m", "msgTraceEnable", "true: with a trace"),
        ),
        send_one,
    ),
    Command(
        "checkMsgSendRT",
        "Check message send response time.",
        (required(Option("t", "topic", "the topic")), _AMOUNT, _SIZE),
        check_times,
    ),
    Command(
        "sendMsgStatus",
        "Send msg to broker.",
        (
            required(Option("b", "brokerName", "the broker")),
            Option("s", "messageSize", "bytes of each (128)"),
            Option("c", "count", "how many (50)"),
        ),
        send_to_broker,
    ),
    Command(
        "clusterRT",
        "List All clusters Message Send RT.",
        (
            _AMOUNT,
            _SIZE,
            Option("c", "cluster", "only this one"),
            Option("p", "print log", "true: as lines for programs"),
            Option("m", "machine room", "its name in such lines (noname)"),
            Option("i", "interval", "seconds in between (10)"),
        ),
        watch_clusters,
    ),
)
