"""Admin requests about consumer groups: configuration, progress, offsets, connected clients."""
