"""A process that appends without end and says what is acknowledged, to be killed at any moment."""
