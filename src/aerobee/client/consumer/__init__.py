"""`Consumer` and `Reader`, and the answers to requests that brokers send to a consumer."""
