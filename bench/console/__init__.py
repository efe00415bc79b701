"""`python -m bench.console`: the console of a large cluster, measured as its users feel it."""
