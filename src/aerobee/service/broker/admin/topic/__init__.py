"""Admin requests about topics: creation, deletion, queries and statistics."""
