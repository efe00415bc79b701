"""Pages about messages: found, explained, sent again, held by transactions, delayed."""
