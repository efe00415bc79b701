"""Options of the sink, and the columns that it takes: checked before a task begins.

where    nameServer, topic (or the column topic)
how      deliveryGuarantee idempotent|transactional|atLeastOnce, writeId with batchId for batch
         writes that may be done again
sending  requestBytes, sendTimeout, group, broker
who      accessKey, secretKey, tls

value         string or binary; every row has one
key           string or binary
topic, tags   string
orderingKey   string: rows of one key go to one queue, in order
queue         int: which of the topic's queues, by broker name and number
properties    string as the source gives it, or map<string,string>
delay         long, ms from now on     deliverAt   timestamp: one of them
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from aerobee.client.core.target import Target
from aerobee.errors import Misuse
from aerobee.model.names import find_topic_fault
from aerobee.pipeline.spark.option_texts import CONNECTION_OPTIONS, OptionTexts
from aerobee.protocol.message.producer_mark import ROUND_MAX, is_producer_id

SINK_OPTIONS = (
    *CONNECTION_OPTIONS,
    "topic",
    "deliveryGuarantee",
    "writeId",
    "batchId",
    "requestBytes",
    "sendTimeout",
    "group",
    "broker",
)
_SOURCES = dict.fromkeys(
    (
        "topics",
        "topicsPattern",
        "assign",
        "startingOffsets",
        "endingOffsets",
        "startingTimestamp",
        "endingTimestamp",
        "maxOffsetsPerTrigger",
        "maxBytesPerTrigger",
        "columns",
        "properties",
        "commitOffsets",
        "failOnDataLoss",
    ),
    "an option of reads",
)

REQUEST_BYTES = 1 << 20
REQUEST_BYTES_MAX = 3 << 20  # a broker takes 4 MiB, by default
WRITE_ID_CHARS_MAX = 100

_TEXT = ("string", "binary")
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_TYPES: dict[str, tuple[str, ...]] = {
    "value": _TEXT,
    "key": _TEXT,
    "topic": ("string",),
    "tags": ("string",),
    "orderingKey": ("string",),
    "queue": _WHOLE,
    "properties": ("string", "map<string,string>"),
    "delay": _WHOLE,
    "deliverAt": ("timestamp",),
}
SINK_COLUMNS = tuple(_TYPES)


class Guarantee(Enum):
    """The delivery guarantee: the effect of writing the same rows again."""

    IDEMPOTENT = "idempotent"
    TRANSACTIONAL = "transactional"
    AT_LEAST_ONCE = "atLeastOnce"


@dataclass(frozen=True, slots=True)
class SinkOptions:
    target: Target
    topic: str = ""
    """Of rows that do not name one."""
    guarantee: Guarantee = Guarantee.IDEMPOTENT
    write_id: str = ""
    batch_id: int = 0
    request_bytes: int = REQUEST_BYTES
    send_seconds: float = 60.0
    group: str = ""
    broker: str = ""
    """That publishes a transactional write; none: the only one."""


def sink_options(given: Mapping[str, str], *, is_stream: bool) -> SinkOptions:
    """Parse the options of a write. Misuse lists everything that is wrong."""
    texts = OptionTexts(given, SINK_OPTIONS, _SOURCES)
    target = texts.target()
    topic = texts.text("topic", "")
    fault = find_topic_fault(topic) if topic else None
    if fault is not None:
        texts.mistakes.append(fault)
    guarantee = texts.one_of(
        "deliveryGuarantee", {one.value: one for one in Guarantee}, Guarantee.IDEMPOTENT
    )
    if is_stream:
        texts.refuse(("writeId", "batchId"), "stream, which has an id and numbers of its own,")
    write_id = texts.text("writeId", "")
    if texts.has("writeId") and (
        not is_producer_id(write_id) or len(write_id) > WRITE_ID_CHARS_MAX
    ):
        texts.mistakes.append(
            f"writeId has 1 to {WRITE_ID_CHARS_MAX} printable ASCII characters without a space, "
            f"not {write_id!r}"
        )
    batch_id = texts.number("batchId", 0) or 0
    if texts.has("batchId") and not write_id:
        texts.mistakes.append("batchId counts the writes of one writeId: give that, too")
    if batch_id > ROUND_MAX:
        texts.mistakes.append(f"batchId is at most {ROUND_MAX}")
    request_bytes = texts.number("requestBytes") or REQUEST_BYTES
    if request_bytes > REQUEST_BYTES_MAX:
        texts.mistakes.append(f"requestBytes is at most {REQUEST_BYTES_MAX}")
    if texts.has("broker") and guarantee is not Guarantee.TRANSACTIONAL:
        texts.mistakes.append("broker is for deliveryGuarantee=transactional")
    seconds = texts.duration("sendTimeout", 60.0)
    texts.check()
    assert target is not None
    return SinkOptions(
        target,
        topic,
        guarantee,
        write_id,
        batch_id,
        request_bytes,
        seconds,
        texts.text("group", ""),
        texts.text("broker", ""),
    )


def check_columns(types: Mapping[str, str], options: SinkOptions) -> None:
    """Check that rows with these columns (name → Spark SQL type) can be written. Misuse."""
    mistakes = []
    for name, kind in types.items():
        allowed = _TYPES.get(name)
        if allowed is None:
            mistakes.append(f"the sink has no column {name!r}")
        elif kind not in allowed:
            mistakes.append(f"the column {name} is {' or '.join(allowed)}, not {kind}")
    if "value" not in types:
        mistakes.append("the column value is missing")
    if "topic" not in types and not options.topic:
        mistakes.append("no topic: give the option topic, or the column topic")
    if "delay" in types and "deliverAt" in types:
        mistakes.append("delay and deliverAt exclude each other")
    timed = [name for name in ("delay", "deliverAt") if name in types]
    if timed and options.guarantee is Guarantee.TRANSACTIONAL:
        mistakes.append(f"{timed[0]}: rows that wait for a time are not published transactionally")
    if mistakes:
        raise Misuse(
            "; ".join(mistakes), hint=f"select what is to be written: {', '.join(SINK_COLUMNS)}"
        )
