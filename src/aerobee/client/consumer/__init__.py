"""Consumer and Reader, and the answers to questions that brokers ask of a consumer."""
