"""The Spark source: topics read as tables, in batches and as streams."""
