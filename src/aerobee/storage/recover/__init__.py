"""Recovery after a stop: the durable mark, the checkpoint, and the scan for the end of the log."""
