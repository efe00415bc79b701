"""The name server: registers brokers, and answers routes of topics."""
