"""Bodies of requests and answers ⇄ values: one module per body, no socket, no file."""
