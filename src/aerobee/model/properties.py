"""Message properties: names with a meaning, and the conversion of properties text to and from a
dict.

    text = name 0x01 value 0x02  name 0x01 value 0x02 …      UTF-8, at most 32767 bytes

Laws. Reading is as lenient as Java 5.x: the last 0x02 may be missing, a piece with no 0x01, no
name or no value is dropped, a name ends at its first 0x01, and of two equal names the later
counts. Writing refuses whatever would not be read back: decode(encode(x)) == x. `find_property`
agrees with `decode_properties` on every text. Names are those of Java's MessageConst except those
marked as Aerobee's.
"""

from collections.abc import Mapping

from aerobee.errors import LocalProtocolError, PropertiesTooLong

PROPERTIES_BYTES_MAX = 32767  # an int16 on disk and on the wire
NAME_END = b"\x01"
PROPERTY_END = b"\x02"

# Set by applications.
KEYS = "KEYS"
TAGS = "TAGS"
WAIT = "WAIT"
DELAY = "DELAY"
SHARDING_KEY = "__SHARDINGKEY"
PRIORITY = "_SYS_MSG_PRIORITY_"
BUYER_ID = "BUYER_ID"
# Identity and origin of a message.
UNIQUE_KEY = "UNIQ_KEY"
EXTEND_UNIQUE_INFO = "EXTEND_UNIQ_INFO"
ORIGIN_MESSAGE_ID = "ORIGIN_MESSAGE_ID"
PRODUCER_GROUP = "PGROUP"
INSTANCE_ID = "INSTANCE_ID"
MESSAGE_REGION = "MSG_REGION"
CLUSTER = "CLUSTER"
MESSAGE_TYPE = "MSG_TYPE"
BORN_HOST = "__BORNHOST"
BORN_TIMESTAMP = "BORN_TIMESTAMP"
DUPLICATE_INFO = "DUP_INFO"
TRANSFER_FLAG = "TRANSFER_FLAG"
CORRECTION_FLAG = "CORRECTION_FLAG"
MQ2_FLAG = "MQ2_FLAG"
PRODUCER_MARK = "__DEDUP"  # Aerobee's: the producer mark of SEND_ONCE
CRC32 = "__CRC32#"
TRANSIENT_PREFIX = "__RMQ.TRANSIENT."  # never stored
# Former and future topics and queues.
REAL_TOPIC = "REAL_TOPIC"
REAL_QUEUE_ID = "REAL_QID"
RETRY_TOPIC = "RETRY_TOPIC"
DEAD_LETTER_ORIGIN_TOPIC = "DLQ_ORIGIN_TOPIC"
DEAD_LETTER_ORIGIN_MESSAGE_ID = "DLQ_ORIGIN_MESSAGE_ID"
DEAD_LETTER_REASON = "DLQ_REASON"  # Aerobee's: the reason of the consumer that rejected it
FORWARD_QUEUE_ID = "PROPERTY_FORWARD_QUEUE_ID"
REDIRECT = "REDIRECT"
INNER_MULTI_DISPATCH = "INNER_MULTI_DISPATCH"
INNER_MULTI_QUEUE_OFFSET = "INNER_MULTI_QUEUE_OFFSET"
INNER_COUNT = "INNER_NUM"
INNER_BASE = "INNER_BASE"
# Consuming.
MIN_OFFSET = "MIN_OFFSET"
MAX_OFFSET = "MAX_OFFSET"
RECONSUME_TIME = "RECONSUME_TIME"
MAX_RECONSUME_TIMES = "MAX_RECONSUME_TIMES"
CONSUME_START_TIME = "CONSUME_START_TIME"
POP_CHECKPOINT = "POP_CK"
POP_CHECKPOINT_OFFSET = "POP_CK_OFFSET"
FIRST_POP_TIME = "1ST_POP_TIME"
ORIGIN_GROUP = "ORIGIN_GROUP"
"""The group that popped a message which comes back."""
TRACE_SWITCH = "TRACE_ON"
TRACE_CONTEXT = "TRACE_CONTEXT"
# Transactions.
TRANSACTION_PREPARED = "TRAN_MSG"
TRANSACTION_ID = "__transactionId__"
TRANSACTION_CHECK_TIMES = "TRANSACTION_CHECK_TIMES"
TRANSACTION_PREPARED_QUEUE_OFFSET = "TRAN_PREPARED_QUEUE_OFFSET"
CHECK_IMMUNITY_SECONDS = "CHECK_IMMUNITY_TIME_IN_SECONDS"
# Request and reply.
CORRELATION_ID = "CORRELATION_ID"
REPLY_TO_CLIENT = "REPLY_TO_CLIENT"
REQUEST_TTL = "TTL"
ARRIVE_TIME = "ARRIVE_TIME"
PUSH_REPLY_TIME = "PUSH_REPLY_TIME"
# Timers.
TIMER_DELAY_SECONDS = "TIMER_DELAY_SEC"
TIMER_DELAY_MS = "TIMER_DELAY_MS"
TIMER_DELIVER_MS = "TIMER_DELIVER_MS"
TIMER_ENQUEUE_MS = "TIMER_ENQUEUE_MS"
TIMER_DEQUEUE_MS = "TIMER_DEQUEUE_MS"
TIMER_ROLL_TIMES = "TIMER_ROLL_TIMES"
TIMER_OUT_MS = "TIMER_OUT_MS"
TIMER_DELAY_LEVEL = "TIMER_DELAY_LEVEL"
TIMER_DELETE_UNIQUE_KEY = "TIMER_DEL_UNIQKEY"
START_DELIVER_TIME = "__STARTDELIVERTIME"

RESERVED_NAMES = frozenset(
    {
        KEYS,
        TAGS,
        WAIT,
        DELAY,
        PRIORITY,
        BUYER_ID,
        UNIQUE_KEY,
        EXTEND_UNIQUE_INFO,
        ORIGIN_MESSAGE_ID,
        PRODUCER_GROUP,
        INSTANCE_ID,
        MESSAGE_REGION,
        CLUSTER,
        MESSAGE_TYPE,
        BORN_HOST,
        BORN_TIMESTAMP,
        DUPLICATE_INFO,
        TRANSFER_FLAG,
        CORRECTION_FLAG,
        MQ2_FLAG,
        PRODUCER_MARK,
        CRC32,
        REAL_TOPIC,
        REAL_QUEUE_ID,
        RETRY_TOPIC,
        DEAD_LETTER_ORIGIN_TOPIC,
        DEAD_LETTER_ORIGIN_MESSAGE_ID,
        DEAD_LETTER_REASON,
        INNER_MULTI_QUEUE_OFFSET,
        MIN_OFFSET,
        MAX_OFFSET,
        RECONSUME_TIME,
        MAX_RECONSUME_TIMES,
        CONSUME_START_TIME,
        POP_CHECKPOINT,
        POP_CHECKPOINT_OFFSET,
        FIRST_POP_TIME,
        TRACE_SWITCH,
        TRANSACTION_PREPARED,
        TRANSACTION_PREPARED_QUEUE_OFFSET,
        CORRELATION_ID,
        REPLY_TO_CLIENT,
        REQUEST_TTL,
        ARRIVE_TIME,
        PUSH_REPLY_TIME,
        TIMER_DELAY_SECONDS,
        TIMER_DELAY_MS,
        TIMER_DELIVER_MS,
        TIMER_ENQUEUE_MS,
        TIMER_DEQUEUE_MS,
        TIMER_ROLL_TIMES,
        TIMER_OUT_MS,
        TIMER_DELAY_LEVEL,
        TIMER_DELETE_UNIQUE_KEY,
    }
)
"""Names that an application may not give to a property of its own."""


def encode_properties(properties: Mapping[str, str]) -> bytes:
    """The text, with its last 0x02, in the order of the mapping."""
    parts = []
    for name, value in properties.items():
        if not name or not value:
            raise LocalProtocolError(
                f"property {name!r}={value!r} has no {'value' if name else 'name'}",
                hint="readers drop such a pair: leave it out",
            )
        parts.append(f"{name}\x01{value}\x02")
    joined = "".join(parts)
    if joined.count("\x01") != len(parts) or joined.count("\x02") != len(parts):
        for name, value in properties.items():
            if _has_separator(name) or _has_separator(value):
                raise LocalProtocolError(
                    f"property {name!r} holds one of the separators 0x01, 0x02"
                )
    try:
        text = joined.encode()
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"properties that are no Unicode text: {error.reason}") from None
    if len(text) > PROPERTIES_BYTES_MAX:
        raise PropertiesTooLong(
            f"{len(text)} bytes of properties; at most {PROPERTIES_BYTES_MAX} fit",
            hint="put what is long into the body",
        )
    return text


def decode_properties(text: bytes) -> dict[str, str]:
    """The pairs of a properties text; bytes that are no UTF-8 become U+FFFD, as in Java."""
    found = {}
    for piece in text.split(PROPERTY_END):
        name, _, value = piece.partition(NAME_END)
        if name and value:
            found[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    return found


def find_property(text: bytes, name: bytes) -> bytes | None:
    """The value of one property, without decoding the whole text."""
    if not name or NAME_END in name or PROPERTY_END in name:
        return None
    mark = name + NAME_END
    start = len(text)
    # Backwards, because the later of two equal names counts.
    while True:
        start = text.rfind(mark, 0, start)
        if start < 0:
            return None
        if start == 0 or text[start - 1] == PROPERTY_END[0]:
            value_start = start + len(mark)
            value_end = text.find(PROPERTY_END, value_start)
            if value_end < 0:
                value_end = len(text)
            if value_end > value_start:
                return text[value_start:value_end]


def is_reserved(name: str) -> bool:
    return name in RESERVED_NAMES


def _has_separator(text: str) -> bool:
    return "\x01" in text or "\x02" in text
