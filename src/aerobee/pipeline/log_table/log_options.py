"""Options of the commit-log source: text, as Spark hands it over, → values that were checked.

which      path: a store's folder, or the folder of its log; topic, topics (a,b): all if none
from, to   startingLogOffset, endingLogOffset: bytes of the log, a record counts where it begins;
           startingTimestamp, endingTimestamp: store time in ms, the end left out
what       columns, properties raw|map|none, brokerName (a log does not know whose it is)
how        maxPartitionBytes, minPartitions, batchSize (rows)
damage     onDamage fail|report
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aerobee.pipeline.arrow.schema import (
    COLUMN_NAMES,
    LOG_OFFSET,
    NONE,
    RAW,
    TopicSchema,
    topic_schema,
)
from aerobee.pipeline.log_table.log_walk import ALWAYS_MS
from aerobee.pipeline.spark.option_texts import ROWS_MAX, OptionTexts

LOG_OPTIONS = (
    "path",
    "topic",
    "topics",
    "startingLogOffset",
    "endingLogOffset",
    "startingTimestamp",
    "endingTimestamp",
    "columns",
    "properties",
    "brokerName",
    "maxPartitionBytes",
    "minPartitions",
    "batchSize",
    "onDamage",
)
ELSEWHERE = {
    name: f"this is an option of the source aerobee, which asks brokers; {instead}"
    for name, instead in {
        "nameServer": "a log is read from its files: the option path",
        "startingOffsets": "startingLogOffset or startingTimestamp says where a log begins",
        "endingOffsets": "endingLogOffset or endingTimestamp says where a log ends",
        "subExpression": "filter the table by its column tags",
        "filterExpression": "filter the table with where()",
    }.items()
}
FAIL = "fail"
REPORT = "report"
NO_END = 2**63 - 1
PARTITION_BYTES = 128 << 20
DAMAGED_BYTES = "damagedBytes"
DAMAGE = "damage"


@dataclass(frozen=True, slots=True)
class LogOptions:
    path: str
    topics: frozenset[bytes]
    """None: all."""
    schema: TopicSchema
    start: int = 0
    end: int = NO_END
    time_start_ms: int = 0
    time_end_ms: int = ALWAYS_MS
    broker_name: str | None = None
    reports_damage: bool = False
    partition_bytes: int = PARTITION_BYTES
    partitions_min: int = 0
    rows_max: int = ROWS_MAX

    def ddl(self) -> str:
        """The schema as DDL text for Spark."""
        damage = f", {DAMAGED_BYTES} long, {DAMAGE} string" if self.reports_damage else ""
        return self.schema.ddl() + damage


def log_options(given: Mapping[str, str]) -> LogOptions:
    """Parse the options of a read of a log. Misuse lists everything that is wrong."""
    texts = OptionTexts(given, LOG_OPTIONS, ELSEWHERE)
    path = texts.text("path", "")
    if not path:
        texts.mistakes.append('the option path is missing: load("…/store")')
    if len(texts.said("topic", "topics")) > 1:
        texts.mistakes.append("topic and topics exclude each other")
    named = [*texts.text("topics", "").split(","), texts.text("topic", "")]
    form = texts.text("properties", RAW).lower()
    chosen = [one.strip() for one in texts.text("columns", "").split(",") if one.strip()]
    columns = chosen or [
        name for name in (*COLUMN_NAMES, LOG_OFFSET) if form != NONE or name != "properties"
    ]
    schema = texts.tried("columns", lambda _: topic_schema(columns, form), "")
    start, end = texts.number("startingLogOffset", 0), texts.number("endingLogOffset", 0)
    time_start, time_end = texts.number("startingTimestamp", 0), texts.number("endingTimestamp", 0)
    damage = texts.one_of("onDamage", {FAIL: FAIL, REPORT: REPORT}, FAIL)
    partition_bytes = texts.number("maxPartitionBytes")
    partitions_min, rows_max = texts.number("minPartitions"), texts.number("batchSize")
    texts.check()
    assert schema is not None
    return LogOptions(
        path,
        frozenset(name.strip().encode() for name in named if name.strip()),
        schema,
        start or 0,
        NO_END if end is None else end,
        time_start or 0,
        ALWAYS_MS if time_end is None else time_end,
        broker_name=texts.text("brokerName", "") or None,
        reports_damage=damage == REPORT,
        partition_bytes=partition_bytes or PARTITION_BYTES,
        partitions_min=partitions_min or 0,
        rows_max=rows_max or ROWS_MAX,
    )
