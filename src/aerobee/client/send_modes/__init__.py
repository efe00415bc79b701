"""Further ways to send: stored once, transactional, request and reply, traced, spilled to disk."""
