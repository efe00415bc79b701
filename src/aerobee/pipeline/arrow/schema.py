"""The columns of a topic: their names, their Spark SQL types, and the bits that select them.

    key              binary     the KEYS property; null if there is none
    value            binary     the body, expanded; or a struct, decoded
    topic            string
    brokerName       string
    queueId          int
    offset           long       in its queue
    timestamp        timestamp  when it was stored
    bornTimestamp    timestamp  when its sender made it
    tags             string     null if there is none
    msgId            string     the sender's id, else the broker's
    reconsumeTimes   int
    properties       string     `name 0x01 value 0x02 …`, as stored; or a map; or left out
    logOffset        long       in its broker's log; only where it is asked for

Spark prunes no column of a Python source, so a query that needs fewer names them in the option
`columns`: a column that is not chosen is not built.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.errors import Misuse
from aerobee.pipeline.arrow import message_columns

RAW = "raw"
MAP = "map"
NONE = "none"
PROPERTY_FORMS = (RAW, MAP, NONE)

BROKER_NAME = "brokerName"
VALUE = "value"
OFFSET = "offset"
PROPERTIES = "properties"
TAGS = "tags"
LOG_OFFSET = "logOffset"

_TYPES = {
    "key": "binary",
    VALUE: "binary",
    "topic": "string",
    BROKER_NAME: "string",
    "queueId": "int",
    OFFSET: "long",
    "timestamp": "timestamp",
    "bornTimestamp": "timestamp",
    TAGS: "string",
    "msgId": "string",
    "reconsumeTimes": "int",
    PROPERTIES: "string",
    LOG_OFFSET: "long",
}
_BITS = {
    "key": message_columns.KEY,
    VALUE: message_columns.VALUE,
    "topic": message_columns.TOPIC,
    BROKER_NAME: 0,  # the same for a whole batch
    "queueId": message_columns.QUEUE_ID,
    OFFSET: message_columns.OFFSET,
    "timestamp": message_columns.TIMESTAMP,
    "bornTimestamp": message_columns.BORN_TIMESTAMP,
    TAGS: message_columns.TAGS,
    "msgId": message_columns.MESSAGE_ID,
    "reconsumeTimes": message_columns.RECONSUME_TIMES,
    PROPERTIES: message_columns.PROPERTIES,
    LOG_OFFSET: message_columns.LOG_OFFSET,
}
COLUMN_NAMES = tuple(name for name in _TYPES if name != LOG_OFFSET)
"""Those that everybody gets who names none."""
_MAP_TYPE = "map<string,string>"


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """S1. `names` are columns of a topic, in the order in which they are built, each once."""

    names: tuple[str, ...]
    property_form: str = RAW
    value_words: str = ""
    """The type of values that are decoded, in Spark's words."""

    @property
    def wanted(self) -> int:
        """The chosen columns as bits for `MessageColumns`."""
        bits = 0
        for name in self.names:
            bits |= _BITS[name]
        return bits

    def ddl(self) -> str:
        """The schema as DDL text for Spark."""
        return ", ".join(f"{name} {self._type_of(name)}" for name in self.names)

    def _type_of(self, name: str) -> str:
        if name == VALUE and self.value_words:
            return self.value_words
        is_map = name == PROPERTIES and self.property_form == MAP
        return _MAP_TYPE if is_map else _TYPES[name]


def topic_schema(chosen: Sequence[str] = (), property_form: str = RAW) -> TopicSchema:
    """Return the schema of these columns; of all columns if none is named. Misuse: an unknown or
    repeated name."""
    if property_form not in PROPERTY_FORMS:
        raise Misuse(f"properties={property_form!r}", hint=f"one of {', '.join(PROPERTY_FORMS)}")
    unknown = [name for name in chosen if name not in _TYPES]
    if unknown:
        raise Misuse(
            f"a topic has no column {', '.join(map(repr, unknown))}",
            hint=f"its columns are {', '.join(_TYPES)}",
        )
    if len(set(chosen)) != len(chosen):
        raise Misuse("a column is chosen twice")
    if property_form == NONE and PROPERTIES in chosen:
        raise Misuse("properties is chosen as a column, and left out by properties=none")
    names = tuple(chosen) or COLUMN_NAMES
    if property_form == NONE:
        names = tuple(name for name in names if name != PROPERTIES)
    return TopicSchema(names, property_form)
