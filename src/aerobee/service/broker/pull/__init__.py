"""The pull room: reads of one queue (PULL_MESSAGE), on a fast and a general path, and long
polling.
"""
