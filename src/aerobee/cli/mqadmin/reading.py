"""Sub-commands that read queues from end to end, and a message's trace.

No offset is committed and no group joined, whatever group is given.
"""

from collections import Counter

from aerobee.cli.mqadmin.command import Call, Command, required
from aerobee.cli.mqadmin.java_text import message_text, moment, time_to_the_second
from aerobee.cli.mqadmin.options import Option
from aerobee.client.core.routes import client_route
from aerobee.errors import Misuse, NotFound
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import TRACE_TOPIC
from aerobee.model.properties import MAX_OFFSET, MIN_OFFSET

_COUNT = 128
_TRACES = 64
_PULL = 32
_LINE = "-" * 56
_TOPIC = required(Option("t", "topic", "the topic"))
_CHARSET = Option("c", "charsetName", "the encoding of bodies (UTF-8)")
_TAGS = Option("s", "subExpression", "only of these tags: A || B")
_BEGIN = Option("b", "beginTimestamp", "from: milliseconds or 2026-11-15#12:00:00:000")
_END = Option("e", "endTimestamp", "to: milliseconds or 2026-11-15#12:00:00:000")


async def _range(call: Call, queue: MessageQueue) -> tuple[int, int]:
    """Return the offsets to read: of the whole queue, or of a range of time."""
    low, high = await call.admin.offsets.bounds(queue)
    if "beginTimestamp" in call.given:
        begin = moment(call.given.text("beginTimestamp"))
        low = await call.admin.offsets.at_time(queue, begin)
    if "endTimestamp" in call.given:
        high = await call.admin.offsets.at_time(queue, moment(call.given.text("endTimestamp")))
    return low, high


async def print_all(call: Call) -> None:
    topic, tags = call.given.text("topic"), call.given.text("subExpression", "*")
    route = client_route(topic, await call.admin.topics.route(topic))
    for queue in route.readable:
        low, high = await _range(call, queue)
        call.say(f"minOffset={low}, maxOffset={high}, {queue.java_text}")
        is_found = False
        async for message in call.admin.queues.read(queue, start=low, end=high, tags=tags):
            is_found = True
            await _say(call, message, queue, has_body=call.given.is_true("printBody", True))
        if not is_found and low < high:
            call.say(f"{queue.java_text} no matched msg. status=NO_MATCHED_MSG, offset={high}")
        call.say(_LINE)


async def print_queue(call: Call) -> None:
    given = call.given
    queue = MessageQueue(
        given.text("topic"), given.text("brokerName"), QueueId(given.number("queueId"))
    )
    low, high = await _range(call, queue)
    counts: Counter[str] = Counter()
    tags = given.text("subExpression", "*")
    async for message in call.admin.queues.read(queue, start=low, end=high, tags=tags):
        if message.tag:
            counts[message.tag] += 1
        if given.is_true("print msg"):
            await _say(call, message, queue, has_body=given.is_true("printBody"))
    if given.is_true("calculate"):
        for tag, count in counts.most_common():
            call.say(f"Tag: {tag:<30} Count: {count}")


async def consume(call: Call) -> None:
    given = call.given
    topic, left = given.text("topic"), given.number("MessageNumber", _COUNT)
    if left <= 0:
        raise Misuse("--MessageNumber must be positive")
    if "queueId" in given:
        if "brokerName" not in given:
            raise Misuse("--queueId needs its broker", hint="say --brokerName, too")
        queue = MessageQueue(topic, given.text("brokerName"), QueueId(given.number("queueId")))
        await _consume_queue(call, queue, given.number("offset"), left, "The oldler {} message")
        return
    if "offset" in given:
        raise Misuse("--offset needs its queue", hint="say --brokerName and --queueId, too")
    for queue in client_route(topic, await call.admin.topics.route(topic)).readable:
        if left <= 0:
            return
        words = "The older {} message of the " + f"{queue.queue_id} queue"
        left -= await _consume_queue(call, queue, 0, left, words)


async def _consume_queue(
    call: Call, queue: MessageQueue, offset: int, left: int, words: str
) -> int:
    """Print the messages of a queue; returns their number."""
    low, high = await _range(call, queue)
    if offset > high:
        call.say(f"{queue.java_text} no matched msg, offset={offset}")
        return 0
    low = max(low, offset)
    end = high
    if high - low > left:
        call.say(f"{words.format(left)} will be provided")
        end = low + left
    count = 0
    async for message in call.admin.queues.read(queue, start=low, end=end):
        if count % _PULL == 0:
            call.say("Consume ok")
        count += 1
        await _say(call, message, queue, has_body=True)
    if end == high:
        call.say(f"{queue.java_text} print msg finished. status=NO_NEW_MSG, offset={high}")
    return count


async def _say(call: Call, message: StoredMessage, queue: MessageQueue, *, has_body: bool) -> None:
    low, high = await call.admin.offsets.bounds(queue)
    message.properties.update({MIN_OFFSET: str(low), MAX_OFFSET: str(high)})
    encoding = call.given.text("charsetName", "UTF-8")
    try:
        body = message.body.decode(encoding, errors="replace") if has_body else "NOT PRINT BODY"
    except LookupError:
        raise Misuse(f"there is no encoding {encoding!r}", hint="say UTF-8") from None
    text = message_text(message, queue.broker_name)
    call.say(f"MSGID: {message.message_id} {text} BODY: {body}")


async def show_trace(call: Call) -> None:
    given = call.given
    message_id = given.text("msgId")
    found = await call.admin.messages.by_key(
        given.text("traceTopic", TRACE_TOPIC),
        message_id,
        start=given.number("beginTimestamp"),
        end=given.number("endTimestamp") if "endTimestamp" in given else "latest",
        limit=given.number("maxNum", _TRACES),
    )
    records = [
        (message, fields)
        for message in found
        for fields in (one.split("\x01") for one in message.body.decode().split("\x02"))
        if message_id in fields or (fields[0] == "Pub" and message_id in fields[5].split(","))
    ]
    if not records:
        raise NotFound(
            f"nothing was traced of {message_id}",
            hint="its sender traces if it is told to: connect(…, trace=True)",
        )
    for message, fields in records:
        if fields[0] == "Pub":
            _say_sent(call, message, fields)
    _say_consumed(call, [one for one in records if one[1][0] == "SubAfter"])


def _say_sent(call: Call, message: StoredMessage, fields: list[str]) -> None:
    _say_trace_row(
        call, "#Type", "#ProducerGroup", "#ClientHost", "#SendTime", "#CostTimes", "#Status"
    )
    at, _, group = fields[1:4]
    status = "success" if "true" in fields[12:] else "failed"
    host = message.born_host.address
    _say_trace_row(call, "Pub", group, host, time_to_the_second(int(at)), f"{fields[10]}ms", status)
    call.say("")


def _say_consumed(call: Call, records: list[tuple[StoredMessage, list[str]]]) -> None:
    """Print the consume status, group by group."""
    by_group: dict[str, list[tuple[StoredMessage, list[str]]]] = {}
    for message, fields in records:
        group = fields[8] if len(fields) > 8 else ""
        by_group.setdefault(group, []).append((message, fields))
    for group, rows in sorted(by_group.items()):
        _say_trace_row(
            call, "#Type", "#ConsumerGroup", "#ClientHost", "#ConsumerTime", "#CostTimes", "#Status"
        )
        for message, fields in rows:
            at = int(fields[7]) if len(fields) > 7 else message.born_timestamp
            status = "success" if fields[4] == "true" else "failed"
            host = message.born_host.address
            _say_trace_row(
                call, "Sub", group, host, time_to_the_second(at), f"{fields[3]}ms", status
            )
        call.say("")


def _say_trace_row(call: Call, *cells: str) -> None:
    kind, group, host, at, cost, status = cells
    call.say(f"{kind:<10} {group:<20} {host:<20} {at:<20} {cost:<10} {status:<10}")


COMMANDS = (
    Command(
        "printMsg",
        "Print Message Detail.",
        (
            _TOPIC,
            _CHARSET,
            _TAGS,
            _BEGIN,
            _END,
            Option("d", "printBody", "false: without bodies"),
            Option("l", "lmqParentTopic", "of a lite topic: there are none"),
        ),
        print_all,
    ),
    Command(
        "printMsgByQueue",
        "Print Message Detail by queueId.",
        (
            _TOPIC,
            required(Option("a", "brokerName", "the broker")),
            required(Option("i", "queueId", "the queue")),
            _CHARSET,
            _TAGS,
            _BEGIN,
            _END,
            Option("p", "print msg", "true: print them"),
            Option("d", "printBody", "true: with bodies"),
            Option("f", "calculate", "true: count them by tag"),
        ),
        print_queue,
    ),
    Command(
        "consumeMessage",
        "Consume message.",
        (
            _TOPIC,
            Option("b", "brokerName", "only of this broker: with -i"),
            Option("i", "queueId", "only of this queue: with -b"),
            Option("o", "offset", "from this offset on: with -b and -i"),
            Option("g", "consumerGroup", "taken; nothing is committed for it"),
            Option("s", "beginTimestamp", _BEGIN.text),
            Option("e", "endTimestamp", _END.text),
            Option("c", "MessageNumber", f"at most ({_COUNT})"),
        ),
        consume,
    ),
    Command(
        "queryMsgTraceById",
        "Query a message trace.",
        (
            required(Option("i", "msgId", "the sender's id")),
            Option("t", "traceTopic", f"where traces are ({TRACE_TOPIC})"),
            Option("b", "beginTimestamp", "from, in ms"),
            Option("e", "endTimestamp", "to, in ms"),
            Option("c", "maxNum", f"at most ({_TRACES})"),
        ),
        show_trace,
    ),
)
