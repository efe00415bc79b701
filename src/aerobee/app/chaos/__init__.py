"""Faults on purpose: breaks the brokers of a test cluster under load, and checks their promises."""
