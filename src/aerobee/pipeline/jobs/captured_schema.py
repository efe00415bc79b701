"""The types of captured columns: the schemas that a capture has announced → Spark's types.

    integer, year, bit   bigint; unsigned decimal(20,0)     date        date
    decimal              decimal(38, digits of its values)  datetime    timestamp_ntz
    float, double        float, double                      timestamp   timestamp
    binary, geometry     binary                             the rest    string

A capture announces every version of a table before the first row that has it, in a topic of its
own; a change names its version. All values of a decimal column have the same number of digits after
the point, so the values tell the scale; a column without any value is left out until it has one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen
from aerobee.pipeline.jobs.topic_io import FORMAT
from aerobee.pipeline.spark.option_texts import TLS_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

_DIGITS = 38
_OF_CONNECTIONS = ("accessKey", "secretKey", *TLS_OPTIONS)

Announcement = Mapping[str, Any]


def schema_topic(name: str) -> str:
    """Return the topic in which the capture of this name announces its tables."""
    # A list of jobs need not wait for a client.
    from aerobee.pipeline.capture.state_topic import SCHEMAS, state_topic

    return state_topic(name) + SCHEMAS


class Announcements:
    """A cache of announced schemas; reads the topic when a version is not known yet."""

    def __init__(self, spark: "SparkSession", chosen: Chosen) -> None:
        self._spark = spark
        self._chosen = chosen
        self._known: dict[str, Announcement] = {}

    def of(self, capture: str, versions: Sequence[str]) -> list[Announcement] | None:
        """Return the schemas of these versions, in the order in which they were announced. None:
        some of them are unknown."""
        if not set(versions) <= self._known.keys():
            self._known.update(self._read(capture))
        if not set(versions) <= self._known.keys():
            return None
        return [said for version, said in self._known.items() if version in versions]

    def _read(self, capture: str) -> dict[str, Announcement]:
        reader = self._spark.read.format(FORMAT)
        reader = reader.option("nameServer", self._chosen.text("name-server"))
        reader = reader.option("topic", schema_topic(capture)).option("columns", "value,offset")
        for name in _OF_CONNECTIONS:
            if name in self._chosen.source:
                reader = reader.option(name, self._chosen.source[name])
        rows = sorted(reader.load().collect(), key=lambda row: int(row["offset"]))
        said = [json.loads(bytes(row["value"])) for row in rows]
        return {one["version"]: one for one in said}


def columns_of(announced: Iterable[Announcement]) -> dict[str, Mapping[str, Any]]:
    """Return the columns of all these versions, by name; the last announcement of a name counts."""
    return {column["name"]: column for one in announced for column in one["columns"]}


def struct_of(
    columns: Mapping[str, Mapping[str, Any]], scales: Mapping[str, int | None]
) -> "StructType":
    """Return the columns as a Spark struct. `scales` has the scale of every decimal that has
    values."""
    from pyspark.sql.types import DecimalType, StructType

    found = StructType()
    for name, column in columns.items():
        if column["kind"] != "decimal":
            found = found.add(name, _type_of(column))
        elif (scale := scales.get(name)) is not None:
            found = found.add(name, DecimalType(_DIGITS, scale))
    return found


def scales_of(changes: "DataFrame", names: Sequence[str]) -> dict[str, int | None]:
    """Return the number of digits after the point in the values of these columns; None: no
    value."""
    from pyspark.sql import functions as sf

    if not names:
        return {}
    body = sf.col("value").cast("string")
    digits = []
    for at, name in enumerate(names):
        sides = [sf.get_json_object(body, f"$.{side}['{name}']") for side in ("after", "before")]
        text = sf.coalesce(*sides)
        behind = sf.when(text.contains("."), sf.length(sf.substring_index(text, ".", -1)))
        digits.append(
            sf.max(sf.when(text.isNotNull(), sf.coalesce(behind, sf.lit(0)))).alias(str(at))
        )
    (row,) = changes.agg(*digits).collect()
    return {name: row[str(at)] for at, name in enumerate(names)}


def with_known_types(found: "StructType", known: "StructType | None") -> "StructType":
    """Return the columns of the table with their types, and new columns. Misuse: digits would be
    lost."""
    from pyspark.sql.types import DecimalType, StructType

    if known is None:
        return found
    has = {one.name: one.dataType for one in known.fields}
    for one in found.fields:
        old = has.get(one.name)
        new = one.dataType
        if not isinstance(old, DecimalType) or not isinstance(new, DecimalType):
            continue
        if new.scale > old.scale:
            raise Misuse(
                f"{one.name} has {new.scale} digits behind the point now, and the table keeps "
                f"{old.scale}",
                hint="begin a new table, with a new checkpoint",
            )
    return StructType([*known.fields, *(one for one in found.fields if one.name not in has)])


def _type_of(column: Mapping[str, Any]) -> "DataType":
    from pyspark.sql import types

    kind = column["kind"]
    if kind in ("integer", "year", "bit"):
        return types.DecimalType(20, 0) if column.get("unsigned") else types.LongType()
    return {
        "float": types.FloatType(),
        "double": types.DoubleType(),
        "date": types.DateType(),
        "datetime": types.TimestampNTZType(),
        "timestamp": types.TimestampType(),
        "binary": types.BinaryType(),
        "geometry": types.BinaryType(),
    }.get(kind, types.StringType())
