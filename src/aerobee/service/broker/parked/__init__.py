"""Requests that wait: for a message, for a sync."""
