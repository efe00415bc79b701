"""Read-only tools for a store without a broker: nothing is written or repaired."""
