"""What is derived from the log: consume queues and the key index."""
