"""Tables in memory of connected clients: consumers, producers, queue locks, peers, calls."""
