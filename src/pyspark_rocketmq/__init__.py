"""Where Spark finds the data source `rocketmq`: it looks through every module named `pyspark_…`."""

from aerobee.pipeline.source import RocketmqSource as DefaultSource

__all__ = ["DefaultSource"]
