"""Fields of what messages say, as columns: of the topic, of a JSON body, of a captured row.

    plain       the columns of a topic: topic, tags, queueId, brokerName, key
    json        and the fields of the body: city, or address.city
    captured    and the fields of the row that a change speaks of: as it is after the change, or was
                before if it is gone; table, database and op are the change's own

Everything out of a body is text, and null where it is not there. A body that is no JSON makes null
of all its fields, and `is_unreadable` true: it can be counted, and is not dropped.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PLAIN, JSON, CAPTURED = FORMS = ("plain", "json", "captured")
TOPIC_COLUMNS = ("topic", "tags", "queueId", "brokerName", "key", "timestamp", "bornTimestamp")
# Of a captured change, by the name that a job's options use.
_OF_CHANGE = {"table": "$.source.table", "database": "$.source.db", "op": "$.op"}
BODY = "_body"


def with_body(rows: "DataFrame", form: str) -> "DataFrame":
    """The rows, with their body as text if fields of it are wanted."""
    from pyspark.sql import functions as sf

    if form == PLAIN:
        return rows
    return rows.withColumn(BODY, sf.col("value").cast("string"))


def field(name: str, form: str) -> "Column":
    """A column for the name of a field."""
    from pyspark.sql import functions as sf

    if name == "key":
        return sf.col("key").cast("string")
    if form == PLAIN or name in TOPIC_COLUMNS:
        return sf.col(name)
    if form == JSON:
        return sf.get_json_object(BODY, f"$.{name}")
    if name in _OF_CHANGE:
        return sf.get_json_object(BODY, _OF_CHANGE[name])
    after = sf.get_json_object(BODY, f"$.after.{name}")
    before = sf.get_json_object(BODY, f"$.before.{name}")
    is_gone = sf.get_json_object(BODY, "$.op") == "d"
    return sf.when(is_gone, before).otherwise(after)


def is_unreadable() -> "Column":
    """Whether a body is no JSON object; for the forms that have one."""
    from pyspark.sql import functions as sf

    # A body that is null has nothing to be wrong about.
    return sf.col(BODY).isNotNull() & sf.json_object_keys(BODY).isNull()


def time_of(name: str, form: str) -> "Column":
    """A field as a time: milliseconds since 1970, or text that Spark takes for a timestamp."""
    from pyspark.sql import functions as sf

    found = field(name, form)
    if name in TOPIC_COLUMNS:
        return found
    return sf.coalesce(sf.timestamp_millis(found.try_cast("bigint")), found.try_cast("timestamp"))
