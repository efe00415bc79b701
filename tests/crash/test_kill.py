"""A writer is killed with SIGKILL, again and again, on one growing store."""
