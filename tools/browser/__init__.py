"""A real browser for tests and pictures of the console: its program, and its DevTools protocol."""
