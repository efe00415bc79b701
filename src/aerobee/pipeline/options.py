"""Options of the source: text, as Spark hands it over, → values that were checked.

Nothing else parses options. An option that is not known is an error that names the one that was
meant; so are two that contradict each other. Every mistake is told at once.

    which      nameServer, and one of: topic, topics (a,b), topicsPattern, assign (JSON)
    from       startingOffsets earliest|latest|group|JSON, startingTimestamp (ms),
               startingOffsetsByTimestamp (JSON)
    to         endingOffsets, endingTimestamp, endingOffsetsByTimestamp: of a batch only
    how much   maxOffsetsPerTrigger, maxBytesPerTrigger, minOffsetsPerTrigger with maxTriggerDelay
    how        minPartitions, maxRecordsPerPartition, maxPartitions, failOnDataLoss
    what       columns, properties raw|map|none, subExpression (tags), filterExpression (SQL92)
    who        group, commitOffsets, accessKey, secretKey, tls
    pulling    pullBatchSize, pullTimeoutMs, fetchOffset.numRetries, fetchOffset.retryIntervalMs
"""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from aerobee.client.core.target import Credentials, Target, parse_target
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.offsets import EARLIEST, LATEST, from_dict, read_offsets
from aerobee.pipeline.schema import RAW, TopicSchema, topic_schema

V = TypeVar("V")

EARLIEST_TEXT = "earliest"
LATEST_TEXT = "latest"
GROUP_TEXT = "group"
_TRUE = {"true": True, "false": False}
_DURATION = re.compile(r"(\d+)\s*(ms|s|m|h)?")
_DURATION_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

SOURCE_OPTIONS = (
    "nameServer",
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
    "group",
    "commitOffsets",
    "pullBatchSize",
    "pullTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "accessKey",
    "secretKey",
    "tls",
)
# Spark's own, which reach every source.
_SPARKS = frozenset({"path", "checkpointlocation", "queryname", "__triggeravailablenow"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where to begin or to end, before anybody was asked where that is.

    P1. What is said of one queue goes before what is said of all.
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
    start: Place
    end: Place
    topics: tuple[str, ...] = ()
    pattern: str = ""
    assigned: tuple[MessageQueue, ...] = ()
    schema: TopicSchema = field(default_factory=topic_schema)
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
    rows_max: int = 50_000
    """Of one Arrow batch."""
    timeout: float = 3.0
    retries: int = 5
    retry_seconds: float = 0.2


def source_options(given: Mapping[str, str], *, is_stream: bool) -> SourceOptions:
    """The options of a read. Misuse lists everything that is wrong."""
    reading = _Reading(given)
    options = reading.options(is_stream)
    if reading.mistakes:
        raise Misuse("; ".join(reading.mistakes))
    assert options is not None
    return options


class _Reading:
    """One look at the options; mistakes gather."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.mistakes: list[str] = []
        names = {name.lower(): name for name in SOURCE_OPTIONS}
        self._given: dict[str, str] = {}
        for name, text in given.items():
            known = names.get(name.lower())
            if known is not None:
                self._given[known] = text
            elif name.lower() not in _SPARKS:
                near = difflib.get_close_matches(name.lower(), names, 1)
                meant = f"; was {names[near[0]]} meant?" if near else ""
                self.mistakes.append(f"there is no option {name}{meant}")

    def options(self, is_stream: bool) -> SourceOptions | None:
        target = self._target()
        topics, pattern, assigned = self._choice()
        default = LATEST if is_stream else EARLIEST
        start = self._place("starting", default)
        if is_stream:
            self._refuse(("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"), "stream")
        else:
            self._refuse(
                ("maxOffsetsPerTrigger", "maxBytesPerTrigger", "minOffsetsPerTrigger"), "batch"
            )
        end = self._place("ending", LATEST)
        tags, sql = self._text("subExpression", "*"), self._text("filterExpression", "")
        if sql and tags != "*":
            self.mistakes.append("subExpression and filterExpression exclude each other")
        group = self._text("group", "")
        commits = self._one_of("commitOffsets", _TRUE, False)
        if (commits or start.is_group) and not group:
            self.mistakes.append("commitOffsets and startingOffsets=group need the option group")
        schema = self._schema()
        numbers = {name: self._number(name) for name in _NUMBERS}
        fields = {_NUMBERS[name]: value for name, value in numbers.items() if value is not None}
        delay = self._duration("maxTriggerDelay", 900.0)
        fails_on_loss = self._one_of("failOnDataLoss", _TRUE, True)
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

    def _target(self) -> Target | None:
        text = self._given.get("nameServer")
        if not text:
            self.mistakes.append('the option nameServer is missing: "host:9876;host:9876"')
            return None
        target = self._tried("nameServer", parse_target, text)
        access_key, secret_key = self._text("accessKey", ""), self._text("secretKey", "")
        if bool(access_key) != bool(secret_key):
            self.mistakes.append("accessKey and secretKey go together")
        is_tls = self._one_of("tls", {**_TRUE, "on": True, "off": False}, False)
        if target is None:
            return None
        credentials = Credentials(access_key, secret_key) if access_key else target.credentials
        return Target(target.name_servers, credentials, target.namespace, target.is_tls or is_tls)

    def _choice(self) -> tuple[tuple[str, ...], str, tuple[MessageQueue, ...]]:
        ways = [
            name for name in ("topic", "topics", "topicsPattern", "assign") if name in self._given
        ]
        if len(ways) != 1:
            said = " and ".join(ways) or "none"
            self.mistakes.append(
                f"one of topic, topics, topicsPattern and assign says what is read: {said} is given"
            )
            return (), "", ()
        text = self._given[ways[0]].strip()
        if ways == ["topicsPattern"]:
            self._tried("topicsPattern", _pattern, text)
            return (), text, ()
        if ways == ["assign"]:
            return (), "", self._tried("assign", _assigned, text) or ()
        names = [text] if ways == ["topic"] else [one.strip() for one in text.split(",")]
        found = tuple(dict.fromkeys(name for name in names if name))
        if not found:
            self.mistakes.append(f"{ways[0]} names nothing")
        return found, "", ()

    def _place(self, which: str, default: int) -> Place:
        """`which` is starting or ending."""
        offsets, times = f"{which}Offsets", f"{which}OffsetsByTimestamp"
        instant = f"{which}Timestamp"
        said = [name for name in (offsets, times, instant) if name in self._given]
        if len(said) > 1:
            self.mistakes.append(f"{' and '.join(said)} exclude each other")
        strategies = {"error": True, "latest": False}
        is_strict = self._one_of("startingOffsetsByTimestampStrategy", strategies, True)
        is_refused = is_strict and which == "starting"
        if instant in self._given:
            return Place(default, timestamp_ms=self._number(instant), is_late_refused=is_refused)
        if times in self._given:
            found = self._tried(times, read_offsets, self._given[times]) or {}
            return Place(default, timestamps_ms=found, is_late_refused=is_refused)
        text = self._text(offsets, "")
        if text.startswith("{"):
            return Place(default, offsets=self._tried(offsets, read_offsets, text) or {})
        places = {EARLIEST_TEXT: EARLIEST, LATEST_TEXT: LATEST}
        if which == "starting" and text.lower() == GROUP_TEXT:
            return Place(default, is_group=True)
        return Place(self._one_of(offsets, places, default))

    def _schema(self) -> TopicSchema | None:
        chosen = [one.strip() for one in self._text("columns", "").split(",") if one.strip()]
        form = self._text("properties", RAW).lower()
        return self._tried("columns", lambda _: topic_schema(chosen, form), "")

    # One option.

    def _text(self, name: str, absent: str) -> str:
        return self._given.get(name, absent).strip()

    def _number(self, name: str) -> int | None:
        text = self._given.get(name)
        if text is None:
            return None
        least = 0 if name in _MAY_BE_NOTHING else 1
        if text.strip().isascii() and text.strip().isdigit() and int(text) >= least:
            return int(text)
        self.mistakes.append(f"{name} is a whole number from {least} on, not {text!r}")
        return None

    def _duration(self, name: str, absent: float) -> float:
        text = self._given.get(name)
        if text is None:
            return absent
        found = _DURATION.fullmatch(text.strip())
        if found is None:
            self.mistakes.append(f"{name} is a duration like 500ms, 30s or 15m, not {text!r}")
            return absent
        return int(found[1]) * _DURATION_SECONDS[found[2] or "ms"]

    def _one_of(self, name: str, choices: Mapping[str, V], absent: V) -> V:
        text = self._given.get(name)
        if text is None:
            return absent
        chosen = choices.get(text.strip().lower())
        if chosen is None:
            self.mistakes.append(f"{name} is one of {', '.join(choices)}, not {text!r}")
            return absent
        return chosen

    def _tried(self, name: str, read: Callable[[str], V], text: str) -> V | None:
        try:
            return read(text)
        except Misuse as error:
            self.mistakes.append(f"{name}: {error}")
            return None

    def _refuse(self, names: tuple[str, ...], kind: str) -> None:
        wrong = [name for name in names if name in self._given]
        if wrong:
            self.mistakes.append(f"a {kind} does not take {', '.join(wrong)}")


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
