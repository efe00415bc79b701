"""Delta tables as a target of streams."""
