"""Sends: a message from its frame to the answer, on the fast path and on the general path."""
