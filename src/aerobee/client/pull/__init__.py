"""A group member that owns queues and pulls them."""
