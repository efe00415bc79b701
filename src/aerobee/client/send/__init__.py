"""Sending: drafts, delivery with retries, the fast path, batches, the producer."""
