"""The broker in its cluster: registration with name servers, and routes of topics on other
brokers.
"""
