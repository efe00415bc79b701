"""Admin requests of tools: topics, groups and the broker itself."""
