"""Tables of messages, made up, for the jobs that work on them; and captured changes."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
_SCHEMA = (
    "key binary, value binary, topic string, brokerName string, queueId int, offset long, "
    "timestamp timestamp, bornTimestamp timestamp, tags string, properties string"
)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def messages(spark: "SparkSession", *rows: dict[str, Any]) -> "DataFrame":
    """A table of messages; whatever a row does not say is the plainest."""
    made = []
    for number, row in enumerate(rows):
        plain = {
            "key": None,
            "value": b"",
            "topic": "orders",
            "brokerName": "broker-a",
            "queueId": 0,
            "offset": number,
            "timestamp": at(number),
            "tags": None,
            "properties": "",
            **row,
        }
        plain.setdefault("bornTimestamp", plain["timestamp"])
        made.append(tuple(plain[name] for name in _names()))
    return spark.createDataFrame(made, _SCHEMA)


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def change(
    op: str, row: dict[str, Any], table: str = "orders", key: Any = None, **source: Any
) -> bytes:
    """A captured change of a row."""
    sides = {"before": row, "after": None} if op == "d" else {"before": None, "after": row}
    origin = {"db": "shop", "table": table, **source}
    return json.dumps({"op": op, "key": key, **sides, "source": origin}).encode()


def _names() -> list[str]:
    return [column.split()[0] for column in _SCHEMA.split(", ")]
