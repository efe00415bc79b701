"""Decisions of a consumer: allocation, rebalance, process queues, retry delays, start offsets."""
