"""Decisions of a sender: queue choice, retries, batches, sequences, spilling."""
