"""Indexes that are derived from the log: consume queues, the key index, and kept messages."""
