"""The synchronous client: facades of the asynchronous one whose methods wait."""
