"""The synchronous client: the asynchronous one behind a facade that waits."""
