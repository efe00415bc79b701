"""The proxy process: the gRPC service in front of brokers that run elsewhere."""
