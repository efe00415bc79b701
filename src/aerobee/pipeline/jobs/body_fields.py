"""Fields of messages as Spark columns: of the topic, of a JSON body, of a captured row.

    plain       the columns of a topic: topic, tags, queueId, brokerName, key
    json        and the fields of the body: city, or address.city
    captured    and the fields of the changed row: after the change, or before it if the row was
                deleted; table, database and op are the change's own

Fields of a body are text, and null where missing. If a body is no JSON all its fields are null and
`is_unreadable` is true: it can be counted, and is not dropped.
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
    """Return the rows, with their body as text if fields of it are needed."""
    from pyspark.sql import functions as sf

    if form == PLAIN:
        return rows
    return rows.withColumn(BODY, sf.col("value").cast("string"))


def field(name: str, form: str) -> "Column":
    """Return the column of a field by its name."""
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
    """Return a column: whether a body is no JSON object; for the forms that have one."""
    from pyspark.sql import functions as sf

    # A body that is null has nothing to be wrong about.
    return sf.col(BODY).isNotNull() & sf.json_object_keys(BODY).isNull()


def time_of(name: str, form: str) -> "Column":
    """Return a field as a timestamp: milliseconds since 1970, or text that Spark can cast."""
    from pyspark.sql import functions as sf

    found = field(name, form)
    if name in TOPIC_COLUMNS:
        return found
    return sf.coalesce(sf.timestamp_millis(found.try_cast("bigint")), found.try_cast("timestamp"))
