"""A time range of a topic → another topic, each message once.

    id of the write = topic, range, and where to

So a replay that broke off can be started again with the same words, and adds only what is missing;
and one that was done does nothing a second time. Somebody who wants the same messages twice says
another `id`.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, Outcome
from aerobee.pipeline.jobs.topic_io import NAME_SERVER, TOPIC, batch_of, to_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "replay"
_COLUMNS = ("key", "value", "tags", "brokerName", "queueId", "offset", "timestamp")


def transform(rows: "DataFrame") -> "DataFrame":
    """What is sent again: key, value and tags, in the order of their queues, so that the same range
    is the same rows in the same order."""
    ordered = rows.sortWithinPartitions("brokerName", "queueId", "offset")
    return ordered.select("key", "value", "tags")


def start(spark: "SparkSession", chosen: Chosen) -> Outcome:
    topic, to = chosen.text("topic"), chosen.text("to-topic")
    if topic == to:
        raise Misuse("a topic is not replayed into itself", hint="it would never come to an end")
    since, until = milliseconds(chosen.text("since")), milliseconds(chosen.text("until"))
    places = {}
    if since is not None:
        places["startingTimestamp"] = str(since)
    if until is not None:
        places["endingTimestamp"] = str(until)
    rows = transform(batch_of(spark, chosen, _COLUMNS, **places))
    if chosen.text("tags"):
        from pyspark.sql import functions as sf

        rows = rows.where(sf.col("tags").isin(*chosen.names("tags")))
    count = rows.count()
    identity = chosen.text("id") or f"{NAME}:{topic}:{since or 0}:{until or 'end'}:{to}"
    to_topic(rows, chosen, to, identity)
    record = {"topic": topic, "to": to, "messages": count, "id": identity}
    return Outcome(records=(record,), said=f"{count} messages of {topic} are in {to}")


def milliseconds(text: str) -> int | None:
    """`2026-11-15T12:00`, in UTC unless it says otherwise, or milliseconds since 1970."""
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
    "a time range of a topic into another topic, each message once",
    "Sends what a topic got between two times to another topic. Started again with the same words\n"
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
    "aerobee pipeline run replay --topic orders --to-topic orders-again --since 2026-11-15T12:00",
    is_stream=False,
)
