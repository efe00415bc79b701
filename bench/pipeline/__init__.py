"""The Spark pipeline beside Spark's Kafka connector, each with its own broker, on the same data."""
