"""Sub-commands that find messages, and print whether groups have consumed them.

Each writes the body to a file and prints its path: bodies need not be text.
"""

from collections.abc import Sequence

from aerobee.cli.mqadmin.command import Call, Command, required
from aerobee.cli.mqadmin.files import write_body
from aerobee.cli.mqadmin.java_text import result_text, table_text, time_with_ms
from aerobee.cli.mqadmin.options import Option
from aerobee.client.admin.message_tracks import Track
from aerobee.errors import Misuse, NotFound
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.properties import KEYS, MAX_OFFSET, MIN_OFFSET, TAGS

_COUNT = 64
_HOUR_MS = 3_600_000
_TRACKS = {
    Track.CONSUMED: "CONSUMED",
    Track.WAITING: "NOT_CONSUME_YET",
    Track.FILTERED: "CONSUMED_BUT_FILTERED",
    Track.BROADCAST: "CONSUME_BROADCASTING",
    Track.OFFLINE: "NOT_ONLINE",
}
_TOPIC = required(Option("t", "topic", "the topic"))
_ID = required(Option("i", "msgId", "its id, the sender's or the broker's"))
_GROUP = Option("g", "consumerGroup", "with -d: have it consumed now, by a member of this group")
_CLIENT = Option("d", "clientId", "with -g: the member")
_CLUSTER = Option("c", "cluster", "on the brokers of a cluster")
_FORMAT = Option("f", "bodyFormat", "show the body as text of this encoding")


async def _brokers(call: Call) -> list[str] | None:
    cluster = call.given.text("cluster")
    return list(await call.masters_in(cluster)) if cluster else None


async def find_by_id(call: Call) -> None:
    topic = call.given.text("topic")
    for message_id in filter(None, call.given.text("msgId").split(",")):
        message = await call.admin.messages.find(topic, message_id.strip())
        if message is None:
            raise NotFound(
                f"no message. msgId={message_id}",
                hint=f"is it of {topic}? Old messages go: see topicStatus",
            )
        if "consumerGroup" in call.given and "clientId" in call.given:
            await _consume(call, message)
        elif call.given.is_true("sendMessage"):
            await _send_again(call, message, message_id)
        else:
            await _say_message(call, message)


async def _consume(call: Call, message: StoredMessage) -> None:
    group, client = call.given.text("consumerGroup"), call.given.text("clientId")
    result = await call.admin.messages.consume_directly(message, group, client)
    call.say(result_text(result), end="")


async def _send_again(call: Call, message: StoredMessage, message_id: str) -> None:
    call.say(f"prepare resend msg. originalMsgId={message_id}", end="")
    stored_id = await call.admin.dead_letters.resend(message, group="", topic=message.topic)
    stored = await call.admin.messages.by_offset_id(stored_id)
    route = await call.admin.topics.route(message.topic)
    address = f"{stored.store_host.address}:{stored.store_host.port}"
    broker = next(one.name for one in route.brokers if address in one.addresses.values())
    queue = MessageQueue(stored.topic, broker, stored.queue_id)
    call.say(
        f"SendResult [sendStatus=SEND_OK, msgId={stored.message_id}, offsetMsgId={stored_id}, "
        f"messageQueue={queue.java_text}, queueOffset={stored.queue_offset}, recallHandle=null]",
        end="",
    )


async def find_by_unique_key(call: Call) -> None:
    topic, message_id = call.given.text("topic"), call.given.text("msgId")
    found = await call.admin.messages.by_unique_id(topic, message_id, on=await _brokers(call))
    start, end = call.given.number("startTime"), call.given.number("endTime", 2**63 - 1)
    found = [one for one in found if start <= one.store_timestamp <= end]
    if not found:
        raise NotFound(
            f"no message. msgId={message_id}",
            hint=f"is it of {topic}? Old messages go: see topicStatus",
        )
    found.sort(key=lambda one: one.store_timestamp)
    if "consumerGroup" in call.given and "clientId" in call.given:
        await _consume(call, found[0])
        return
    shown = found if "showAll" in call.given else found[:1]
    for number, message in enumerate(shown):
        name = f"{message.message_id}_{number}" if number else message.message_id
        _say_facts(call, message, name)
        await _say_tracks(call, message, end="")


async def find_by_offset(call: Call) -> None:
    given = call.given
    queue = MessageQueue(
        given.text("topic"), given.text("brokerName"), QueueId(given.number("queueId"))
    )
    message = await call.admin.queues.at(queue, given.number("offset"))
    low, high = await call.admin.offsets.bounds(queue)
    if message is None:
        raise NotFound(
            f"{queue} has no message at {given.number('offset')}",
            hint=f"there are those from {low} to {high - 1}" if high > low else "it is empty",
        )
    message.properties.update({MIN_OFFSET: str(low), MAX_OFFSET: str(high)})
    await _say_message(call, message)


async def _say_message(call: Call, message: StoredMessage) -> None:
    call.say(f"{'OffsetID:':<20} {message.offset_message_id}")
    _say_facts(call, message, message.message_id)
    if "bodyFormat" in call.given:
        encoding = call.given.text("bodyFormat")
        try:
            text = message.body.decode(encoding, errors="replace")
        except LookupError:
            raise Misuse(f"there is no encoding {encoding!r}", hint="say UTF-8") from None
        call.say(f"{'Message Body:':<20} {text}")
    await _say_tracks(call, message, end="\n")


def _say_facts(call: Call, message: StoredMessage, file_name: str) -> None:
    born, stored = message.born_host, message.store_host
    said = message.properties
    for name, value in (
        ("Topic", message.topic),
        ("Tags", f"[{said.get(TAGS, 'null')}]"),
        ("Keys", f"[{said.get(KEYS, 'null')}]"),
        ("Queue ID", message.queue_id),
        ("Queue Offset", message.queue_offset),
        ("CommitLog Offset", message.log_offset),
        ("Reconsume Times", message.reconsume_times),
        ("Born Timestamp", time_with_ms(message.born_timestamp)),
        ("Store Timestamp", time_with_ms(message.store_timestamp)),
        ("Born Host", f"{born.address}:{born.port}"),
        ("Store Host", f"{stored.address}:{stored.port}"),
        ("System Flag", message.sys_flag),
        ("Properties", table_text(said)),
        ("Message Body Path", write_body(file_name, message.body)),
    ):
        call.say(f"{name + ':':<20} {value}")


async def _say_tracks(call: Call, message: StoredMessage, end: str) -> None:
    tracks = await call.admin.messages.tracks(message)
    call.say("\n\nWARN: No Consumer" if not tracks else "\n\n", end="")
    for group, track in sorted(tracks.items()):
        call.say(
            f"MessageTrack [consumerGroup={group}, trackType={_TRACKS[track]}, exceptionDesc=null]",
            end=end,
        )


async def find_by_key(call: Call) -> None:
    given = call.given
    if given.text("keyType", "K") != "K" or "lastKey" in given:
        raise Misuse(
            "only keys are indexed, and found in one go",
            hint="leave --keyType and --lastKey out; narrow it down by --beginTimestamp",
        )
    key = given.text("msgKey")
    found = await call.admin.messages.by_key(
        given.text("topic"),
        key,
        start=given.number("beginTimestamp"),
        end=given.number("endTimestamp") if "endTimestamp" in given else "latest",
        limit=given.number("maxNum", _COUNT),
        on=await _brokers(call),
    )
    call.say(f"{'#Message ID':<50} {'#QID':>4} {'#Offset':>40} {'#IndexKey':<200}")
    _say_found(call, found, key)


def _say_found(call: Call, found: Sequence[StoredMessage], key: str) -> None:
    for one in found:
        hour = one.store_timestamp // _HOUR_MS * _HOUR_MS
        place = f"{hour}@{one.topic}@K@{key}@{one.unique_id}@{one.log_offset}"
        call.say(f"{one.message_id:<50} {one.queue_id:>4} {one.queue_offset:>40} {place:<200}")


COMMANDS = (
    Command(
        "queryMsgById",
        "Query Message by Id.",
        (
            _TOPIC,
            _ID,
            _GROUP,
            _CLIENT,
            Option("s", "sendMessage", "true: send it once more"),
            Option("u", "unitName", "taken and not needed"),
            _FORMAT,
            _CLUSTER,
        ),
        find_by_id,
    ),
    Command(
        "queryMsgByKey",
        "Query Message by Key.",
        (
            _TOPIC,
            required(Option("k", "msgKey", "the key")),
            Option("b", "beginTimestamp", "stored at this time or later, in ms"),
            Option("e", "endTimestamp", "stored at this time or before, in ms"),
            Option("m", "maxNum", f"at most ({_COUNT})"),
            _CLUSTER,
            Option("p", "keyType", "K"),
            Option("l", "lastKey", "where RocksDB's index goes on"),
        ),
        find_by_key,
    ),
    Command(
        "queryMsgByUniqueKey",
        "Query Message by Unique key.",
        (
            _TOPIC,
            _ID,
            _GROUP,
            _CLIENT,
            Option("a", "showAll", "all that have it", is_switch=True),
            _CLUSTER,
            Option("s", "startTime", "stored at this time or later, in ms"),
            Option("e", "endTime", "stored at this time or before, in ms"),
        ),
        find_by_unique_key,
    ),
    Command(
        "queryMsgByOffset",
        "Query Message by offset.",
        (
            _TOPIC,
            required(Option("b", "brokerName", "the broker")),
            required(Option("i", "queueId", "the queue")),
            required(Option("o", "offset", "the offset in it")),
            _FORMAT,
            Option("r", "routeTopic", "taken and not needed"),
        ),
        find_by_offset,
    ),
)
