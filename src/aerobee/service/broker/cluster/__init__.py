"""The broker among others: its registration with name servers, and topics on other brokers."""
