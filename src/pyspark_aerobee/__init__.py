"""Registration of the data source `aerobee`: Spark looks through every module named `pyspark_…`."""

from aerobee.pipeline.source.spark_source import AerobeeSource as DefaultSource

__all__ = ["DefaultSource"]
