"""Where Spark finds the data source `rocketmq`: it looks through every module named `pyspark_…`."""

from aerobee.pipeline.source.spark_source import RocketmqSource as DefaultSource

__all__ = ["DefaultSource"]
