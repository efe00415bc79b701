"""Live demonstration: sends sample traffic, consumes it, and draws figures of the brokers."""
