"""Pulls: a read of one queue, on the fast path and on the general path, and long polling."""
