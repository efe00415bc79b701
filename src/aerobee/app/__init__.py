"""Processes: the only place where real things are built and introduced to each other."""
