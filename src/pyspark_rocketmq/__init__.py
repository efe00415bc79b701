"""Registration of the data source `rocketmq`: Spark looks through every module `pyspark_…`."""

from aerobee.pipeline.source.spark_source import RocketmqSource as DefaultSource

__all__ = ["DefaultSource"]
