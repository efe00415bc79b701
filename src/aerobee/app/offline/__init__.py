"""A store looked at without a broker: nothing is written, nothing is repaired."""
