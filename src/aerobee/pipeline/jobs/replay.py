"""A time range of a topic → another topic, each message once.

    id of the write = a digest of the source topic, its offsets, and the target topic

So a replay that broke off can be started again with the same options, and adds only the missing
messages; one that was finished adds nothing. To send the same messages twice, give another `id`.
Messages of one queue stay in one queue, in order.
"""

import json
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, JobOutcome
from aerobee.pipeline.jobs.topic_io import NAME_SERVER, TOPIC, batch_of, to_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "replay"
_COLUMNS = ("key", "value", "tags", "properties", "brokerName", "queueId", "offset")


def transform(rows: "DataFrame") -> "DataFrame":
    """Return the rows to send: all that the application set in a message. Rows are ordered by
    queue, so that the same range gives the same rows in the same order."""
    from pyspark.sql import functions as sf

    ordered = rows.sortWithinPartitions("brokerName", "queueId", "offset")
    queue = sf.concat_ws("-", "brokerName", "queueId").alias("orderingKey")
    return ordered.select("key", "value", "tags", "properties", queue)


def check(chosen: Chosen) -> None:
    """Misuse: options contradict each other."""
    if chosen.text("topic") == chosen.text("to-topic"):
        raise Misuse("a topic is not replayed into itself", hint="it would never come to an end")
    _places(chosen)


def start(spark: "SparkSession", chosen: Chosen) -> JobOutcome:
    topic, to = chosen.text("topic"), chosen.text("to-topic")
    found = batch_of(spark, chosen, _COLUMNS, **_places(chosen))
    if chosen.text("tags"):
        from pyspark.sql import functions as sf

        found = found.where(sf.col("tags").isin(*chosen.names("tags")))
    queues = _ranges(found)
    count = sum(messages for *_, messages in queues)
    pieces = found.rdd.getNumPartitions()
    identity = chosen.text("id") or identity_of(topic, to, chosen.text("tags"), pieces, queues)
    if count:
        to_topic(transform(found), chosen, to, identity)
    record = {"topic": topic, "to": to, "messages": count, "id": identity}
    return JobOutcome(records=(record,), said=f"{count} messages of {topic} are in {to}")


def identity_of(*sent: object) -> str:
    """Return the id of the write: the same for the same messages, cut into the same pieces."""
    return f"{NAME}-{sha256(json.dumps(sent).encode()).hexdigest()[:24]}"


def _places(chosen: Chosen) -> dict[str, str]:
    """Return the source options for the start and the end of the range."""
    since, until = milliseconds(chosen.text("since")), milliseconds(chosen.text("until"))
    now_ms = int(time.time() * 1000)
    if until is not None and until > now_ms:
        # What comes until then would make another range of the same words.
        raise Misuse(f"{chosen.text('until')} is in the future", hint="leave until out: up to now")
    if since is not None and until is not None and since >= until:
        raise Misuse("since is not before until")
    places = {}
    if since is not None:
        places["startingTimestamp"] = str(since)
        places["startingOffsetsByTimestampStrategy"] = "latest"
    if until is not None:
        places["endingTimestamp"] = str(until)
    return places


def _ranges(rows: "DataFrame") -> list[tuple[str, int, int, int, int]]:
    """Return of each queue: broker, number, first and last offset, and the number of messages."""
    from pyspark.sql import functions as sf

    found = rows.groupBy("brokerName", "queueId").agg(
        sf.min("offset"), sf.max("offset"), sf.count(sf.lit(1))
    )
    return sorted((row[0], row[1], row[2], row[3], row[4]) for row in found.collect())


def milliseconds(text: str) -> int | None:
    """Parse `2026-11-15T12:00`, in UTC unless it has a zone, or milliseconds since 1970."""
    if not text:
        return None
    if text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Misuse(
            f"{text!r} is no time", hint="2026-11-15T12:00, or milliseconds since 1970"
        ) from None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000)


JOB = Job(
    NAME,
    "a time range of a topic into another, each message once",
    "Sends what a topic got between two times to another topic. Started again with the same words "
    "it adds only what is missing.",
    (
        NAME_SERVER,
        TOPIC,
        JobOption("to-topic", "where to", is_needed=True),
        JobOption("since", "stored at this time or later (from the beginning)"),
        JobOption("until", "stored before this time (to the end)"),
        JobOption("tags", "only these tags"),
        JobOption("id", "another id sends the same messages once more"),
    ),
    start,
    "aerobee pipeline run replay --topic orders --to-topic again --since 2026-11-15",
    is_stream=False,
    check=check,
)
