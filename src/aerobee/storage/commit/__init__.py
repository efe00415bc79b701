"""Append: records into the commit log, and the syncs that make them durable."""
