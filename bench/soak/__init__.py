"""Our client for a long time, while its broker is killed; see `__main__`."""
