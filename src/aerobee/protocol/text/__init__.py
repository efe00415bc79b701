"""Text formats: JSON, Java properties, header fields, metrics."""
