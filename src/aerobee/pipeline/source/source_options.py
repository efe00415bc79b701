"""Options of the source: text, as Spark hands it over, → values that were checked.

Options are parsed here only. An unknown option is an error that names the most similar one; options
that contradict each other are errors, too. All errors are reported at once.

    which      nameServer, and one of: topic, topics (a,b), topicsPattern, assign (JSON)
    from       startingOffsets earliest|latest|group|JSON, startingTimestamp (ms),
               startingOffsetsByTimestamp (JSON)
    to         endingOffsets, endingTimestamp, endingOffsetsByTimestamp: of a batch only
    how much   maxOffsetsPerTrigger, maxBytesPerTrigger, minOffsetsPerTrigger with maxTriggerDelay
    how        minPartitions, maxRecordsPerPartition, maxPartitions, failOnDataLoss
    what       columns, properties raw|map|none, subExpression (tags), filterExpression (SQL92)
    values     valueFormat json|avro|protobuf, valueSchema, onDecodeError fail|null|dlq,
               deadLetterTopic: see `value_format`
    who        group, commitOffsets, accessKey, secretKey, tls
    pulling    pullBatchSize, pullTimeoutMs, fetchOffset.numRetries, fetchOffset.retryIntervalMs
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aerobee.client.core.target import Target
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.arrow.schema import RAW, VALUE, TopicSchema, topic_schema
from aerobee.pipeline.source.stream_offsets import EARLIEST, LATEST, from_dict, read_offsets
from aerobee.pipeline.spark.option_texts import CONNECTION_OPTIONS, ROWS_MAX, TRUE, OptionTexts

if TYPE_CHECKING:
    from aerobee.pipeline.values.value_format import ValueFormat

EARLIEST_TEXT = "earliest"
LATEST_TEXT = "latest"
GROUP_TEXT = "group"

SOURCE_OPTIONS = (
    *CONNECTION_OPTIONS,
    "topic",
    "topics",
    "topicsPattern",
    "assign",
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingTimestamp",
    "endingOffsetsByTimestamp",
    "maxOffsetsPerTrigger",
    "maxBytesPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "maxPartitions",
    "failOnDataLoss",
    "subExpression",
    "filterExpression",
    "columns",
    "properties",
    "valueFormat",
    "valueSchema",
    "onDecodeError",
    "deadLetterTopic",
    "group",
    "commitOffsets",
    "pullBatchSize",
    "pullTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
_OF_STREAMS = (
    "maxOffsetsPerTrigger",
    "maxBytesPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "commitOffsets",
)
_ELSEWHERE = {
    "deliveryGuarantee": "an option of writes",
    "writeId": "an option of batch writes",
    "pullBatchBytes": "how much a broker answers at once is its own to say",
}


@dataclass(frozen=True, slots=True)
class StartPlace:
    """The start or the end of a read as given in the options, before servers were asked.

    P1. A place of one queue takes precedence over the place of all queues.
    """

    offset: int = EARLIEST
    """EARLIEST or LATEST: of every queue that nothing else is said of."""
    timestamp_ms: int | None = None
    is_group: bool = False
    """Where the group has come to; where it has come to nothing, `offset`."""
    offsets: Mapping[MessageQueue, int] = field(default_factory=dict)
    timestamps_ms: Mapping[MessageQueue, int] = field(default_factory=dict)
    is_late_refused: bool = False
    """Whether a time after the last message is an error, and not the end."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    target: Target
    start: StartPlace
    end: StartPlace
    topics: tuple[str, ...] = ()
    pattern: str = ""
    assigned: tuple[MessageQueue, ...] = ()
    schema: TopicSchema = field(default_factory=topic_schema)
    values: "ValueFormat | None" = None
    """None: values stay bytes."""
    tags: str = "*"
    sql: str = ""
    batch_messages_max: int = 0
    batch_bytes_max: int = 0
    batch_messages_min: int = 0
    batch_delay_seconds: float = 900.0
    partitions_min: int = 0
    partition_messages_max: int = 0
    partitions_max: int = 0
    """0 in each: no limit, or as many as there are cores."""
    fails_on_loss: bool = True
    group: str = ""
    commits: bool = False
    rows_max: int = ROWS_MAX
    """Of one Arrow batch."""
    timeout: float = 3.0
    retries: int = 5
    retry_seconds: float = 0.2


def source_options(given: Mapping[str, str], *, is_stream: bool) -> SourceOptions:
    """Parse the options of a read. Misuse lists everything that is wrong."""
    reading = _Reading(given)
    options = reading.options(is_stream)
    reading.texts.check()
    assert options is not None
    return options


class _Reading:
    """One pass over the options that collects mistakes."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.texts = OptionTexts(given, SOURCE_OPTIONS, _ELSEWHERE)

    def options(self, is_stream: bool) -> SourceOptions | None:
        texts = self.texts
        target = texts.target()
        topics, pattern, assigned = self._choice()
        default = LATEST if is_stream else EARLIEST
        start = self._place("starting", default)
        if is_stream:
            texts.refuse(("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"), "stream")
        else:
            texts.refuse(_OF_STREAMS, "batch")
        end = self._place("ending", LATEST)
        tags, sql = texts.text("subExpression", "*"), texts.text("filterExpression", "")
        if sql and tags != "*":
            texts.mistakes.append("subExpression and filterExpression exclude each other")
        group = texts.text("group", "")
        commits = texts.one_of("commitOffsets", TRUE, False)
        if (commits or start.is_group) and not group:
            texts.mistakes.append("commitOffsets and startingOffsets=group need the option group")
        values = self._values()
        schema = self._schema(values)
        numbers = {name: self._number(name) for name in _NUMBERS}
        fields = {_NUMBERS[name]: value for name, value in numbers.items() if value is not None}
        delay = texts.duration("maxTriggerDelay", 900.0)
        fails_on_loss = texts.one_of("failOnDataLoss", TRUE, True)
        timeout = self._number("pullTimeoutMs") or 3000
        retry_ms = self._number("fetchOffset.retryIntervalMs")
        if target is None or schema is None:
            return None
        return SourceOptions(
            target,
            start,
            end,
            topics=topics,
            pattern=pattern,
            assigned=assigned,
            schema=schema,
            values=values,
            tags=tags,
            sql=sql,
            batch_delay_seconds=delay,
            fails_on_loss=fails_on_loss,
            group=group,
            commits=commits,
            timeout=timeout / 1000,
            retry_seconds=0.2 if retry_ms is None else retry_ms / 1000,
            **fields,
        )

    def _choice(self) -> tuple[tuple[str, ...], str, tuple[MessageQueue, ...]]:
        ways = self.texts.said("topic", "topics", "topicsPattern", "assign")
        if len(ways) != 1:
            said = " and ".join(ways) or "none"
            self.texts.mistakes.append(
                f"one of topic, topics, topicsPattern and assign says what is read: {said} is given"
            )
            return (), "", ()
        text = self.texts.text(ways[0], "")
        if ways == ["topicsPattern"]:
            self.texts.tried("topicsPattern", _pattern, text)
            return (), text, ()
        if ways == ["assign"]:
            return (), "", self.texts.tried("assign", _assigned, text) or ()
        names = [text] if ways == ["topic"] else [one.strip() for one in text.split(",")]
        found = tuple(dict.fromkeys(name for name in names if name))
        if not found:
            self.texts.mistakes.append(f"{ways[0]} names nothing")
        return found, "", ()

    def _place(self, which: str, default: int) -> StartPlace:
        """Parse the place `which`: starting or ending."""
        offsets, times = f"{which}Offsets", f"{which}OffsetsByTimestamp"
        instant = f"{which}Timestamp"
        said = self.texts.said(offsets, times, instant)
        if len(said) > 1:
            self.texts.mistakes.append(f"{' and '.join(said)} exclude each other")
        strategies = {"error": True, "latest": False}
        is_strict = self.texts.one_of("startingOffsetsByTimestampStrategy", strategies, True)
        is_refused = is_strict and which == "starting"
        if instant in said:
            return StartPlace(
                default, timestamp_ms=self._number(instant), is_late_refused=is_refused
            )
        if times in said:
            found = self.texts.tried(times, read_offsets, self.texts.text(times, "")) or {}
            return StartPlace(default, timestamps_ms=found, is_late_refused=is_refused)
        text = self.texts.text(offsets, "")
        if text.startswith("{"):
            return StartPlace(default, offsets=self.texts.tried(offsets, read_offsets, text) or {})
        places = {EARLIEST_TEXT: EARLIEST, LATEST_TEXT: LATEST}
        if which == "starting" and text.lower() == GROUP_TEXT:
            return StartPlace(default, is_group=True)
        besides = (GROUP_TEXT, "JSON") if which == "starting" else ("JSON",)
        return StartPlace(self.texts.one_of(offsets, places, default, besides=besides))

    def _schema(self, values: "ValueFormat | None") -> TopicSchema | None:
        chosen = [one.strip() for one in self.texts.text("columns", "").split(",") if one.strip()]
        form = self.texts.text("properties", RAW).lower()
        made = self.texts.tried("columns", lambda _: topic_schema(chosen, form), "")
        if values is None or made is None:
            return made
        from aerobee.pipeline.values.value_types import words_of

        if VALUE not in made.names:
            self.texts.mistakes.append("valueFormat is about the column value, which is not chosen")
        return replace(made, value_words=words_of(values.decoder().type))

    def _values(self) -> "ValueFormat | None":
        texts = self.texts
        more = texts.said("valueSchema", "onDecodeError", "deadLetterTopic")
        if not texts.has("valueFormat"):
            if more:
                texts.mistakes.append(f"{', '.join(more)} without valueFormat")
            return None
        # Values are decoded by packages that most reads do not need.
        from aerobee.pipeline.values.value_format import DLQ, FAIL, ON_DECODE_ERROR, VALUE_FORMATS
        from aerobee.pipeline.values.value_format import value_format as made

        kind = texts.one_of("valueFormat", {name: name for name in VALUE_FORMATS}, "")
        on_error = texts.one_of("onDecodeError", {name: name for name in ON_DECODE_ERROR}, FAIL)
        schema, topic = texts.text("valueSchema", ""), texts.text("deadLetterTopic", "")
        if not schema:
            texts.mistakes.append("valueFormat needs valueSchema")
        if (on_error == DLQ) != bool(topic):
            texts.mistakes.append("onDecodeError=dlq and deadLetterTopic go together")
        if not kind or not schema:
            return None
        return texts.tried("valueSchema", lambda text: made(kind, text, on_error, topic), schema)

    def _number(self, name: str) -> int | None:
        return self.texts.number(name, 0 if name in _MAY_BE_NOTHING else 1)


_NUMBERS = {
    "maxOffsetsPerTrigger": "batch_messages_max",
    "maxBytesPerTrigger": "batch_bytes_max",
    "minOffsetsPerTrigger": "batch_messages_min",
    "minPartitions": "partitions_min",
    "maxRecordsPerPartition": "partition_messages_max",
    "maxPartitions": "partitions_max",
    "pullBatchSize": "rows_max",
    "fetchOffset.numRetries": "retries",
}
_MAY_BE_NOTHING = frozenset(
    {"fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "startingTimestamp"}
)


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise Misuse(f"no regular expression: {error}") from None
    return text


def _assigned(text: str) -> tuple[MessageQueue, ...]:
    """`{"topic":{"broker":[0,1]}}`"""
    try:
        nested = json.loads(text)
        found = {
            topic: {
                broker: {str(number): 0 for number in queues} for broker, queues in brokers.items()
            }
            for topic, brokers in nested.items()
        }
    except (ValueError, AttributeError, TypeError):
        raise Misuse('it is written {"topic":{"broker":[0,1]}}') from None
    return tuple(sorted(from_dict(found)))
