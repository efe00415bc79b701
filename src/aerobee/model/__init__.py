"""Values: messages, queues, flags, properties, ids. No I/O, and no behaviour beyond their
invariants.
"""
