"""Registration of the data source `aerobee-log`: Spark looks through every module `pyspark_…`."""

from aerobee.pipeline.log_table.log_source import AerobeeLogSource as DefaultSource

__all__ = ["DefaultSource"]
