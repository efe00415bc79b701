"""The admin client: one typed method for each administration request of brokers and name servers.
"""
