"""Load tests that are started from the console: one at a time, with their results kept."""
