"""Recovery after a stop: the durable mark, the checkpoint, and the scan that finds the end of the log."""
