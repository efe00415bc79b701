"""The captured database: server checks, catalog, snapshot, binary log."""
