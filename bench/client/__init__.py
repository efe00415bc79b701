"""Clients for Python, ours and others', measured as processes of their own."""
