"""Admin requests about the broker: status, configuration, cleaning, its store, message queries."""
