"""Pops: choose messages of a group's queues, write their checkpoint and hand them out."""
