"""Retention: deletion of old files, disk limits, and compaction."""
