"""Commit logs read as Spark tables, without a broker."""
