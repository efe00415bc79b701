"""The Spark sink: rows written to topics, idempotently or in published rounds."""
