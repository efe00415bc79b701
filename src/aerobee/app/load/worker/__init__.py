"""Worker processes of load tests: sending, receiving, pacing and counting."""
