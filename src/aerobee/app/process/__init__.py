"""Processes: their start and stop, supervision, monitoring and logs."""
