"""Registers topics as tables of Spark SQL; every query reads up to the current end of the topic.

    register_table(spark, "orders", nameServer="localhost:9876", topic="orders")
    spark.sql("SELECT tags, count(*) FROM orders GROUP BY tags")

A DataFrame or a view over a Python source keeps the ends of its queues from its first use on; a
table of the catalog is planned anew. But the catalog drops a table's options, so each table gets a
data source class of its own that holds them, registered under its own name.

T1. Options of a query (`SELECT … FROM orders WITH (startingTimestamp = '…')`) take precedence over
    those of the table.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aerobee.errors import Misuse
from aerobee.pipeline.source.source_options import source_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PREFIX = "aerobee_table_"
# What the catalog says of a table, and hands over as if these were options of it.
_CATALOGS = frozenset(
    ["collation", "comment", "external", "is_managed_location", "location", "owner", "provider"]
)
_NAME = re.compile(r"\w+(\.\w+)?", re.ASCII)


def register_table(spark: "SparkSession", name: str, **options: str) -> "DataFrame":
    """Register a topic as the table `name`; options are those of a batch read. It lasts as long as
    the session. Misuse: there is a table of that name, which is never dropped for this one."""
    if not _NAME.fullmatch(name):
        raise Misuse(
            f"{name!r} is no name of a table", hint="letters, digits and _, or database.table"
        )
    source_options(options, is_stream=False)
    provider = PREFIX + name.replace(".", "_").lower()
    if spark.catalog.tableExists(name):
        raise Misuse(
            f"there is a table {name} already",
            hint=f"choose another name, or drop it first: DROP TABLE {name}",
        )
    spark.dataSource.register(table_source(provider, options))
    spark.sql(f"CREATE TABLE {name} USING {provider}")
    return spark.table(name)


def table_source(provider: str, options: Mapping[str, str]) -> Any:
    """Return a data source class that holds its options."""
    from aerobee.pipeline.source.spark_source import AerobeeSource

    baked = dict(options)

    class TableSource(AerobeeSource):
        def __init__(self, options: Mapping[str, str]) -> None:
            super().__init__(merged(baked, options))

        @classmethod
        def name(cls) -> str:
            return provider

    return TableSource


def merged(baked: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a table, overridden by those of a query; names in any case."""
    said = {name: text for name, text in given.items() if name.lower() not in _CATALOGS}
    lower = {name.lower() for name in said}
    return {**{name: text for name, text in baked.items() if name.lower() not in lower}, **said}
