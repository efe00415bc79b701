"""Pull and query."""
