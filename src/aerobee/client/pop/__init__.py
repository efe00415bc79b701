"""A group member that pops messages and acknowledges each."""
