"""Admin requests: topics, groups and the broker itself, as tools ask for them."""
