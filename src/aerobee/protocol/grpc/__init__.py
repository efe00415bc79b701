"""RocketMQ's gRPC protocol (`apache.rocketmq.v2`): protobuf messages ⇄ values, and their framing.

The messages are declared in Python (`wire.py`), from the numbers and types of the protocol's
specification: there is no generated code, and no library is needed to run it.
"""
