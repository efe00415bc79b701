"""What tools ask of brokers and name servers: one typed method for each request."""
