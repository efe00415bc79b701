"""Message bodies as values: JSON, Avro and Protobuf, with their Spark types."""
