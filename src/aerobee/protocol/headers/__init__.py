"""The fields of requests and answers, one module per family: RocketMQ's header classes.

What a field means is said where it is served. Names and defaults: Java's RequestHeader classes.
"""
