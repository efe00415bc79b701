"""The calls of gRPC that come for every message, taken from their connections themselves.

    calls_in_place        sends and acknowledgements, out of what a connection has received
    acknowledged_calls    acknowledgements that wait for their records to be safe
    fast_desk             what serves them: the broker in the same process

All other calls are `service.proxy`'s, and these too where one of them needs more than a look. Law:
both answer and store the same.
"""
