"""Send modes: deduplicated, transactional, request and reply, traced, spilled to disk."""
