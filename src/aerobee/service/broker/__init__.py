"""The broker: takes commands and the time, and returns effects, without I/O.

assembly, parts           put a broker together
broker                    dispatches frames, commands, ticks
request_table             request code → handler
fast_path                 the protocol of fast paths
config                    settings

Rooms: send, pull, pop, transaction, timer, delay, staging and deduplication store and hand out
messages; membership, clients and cluster know clients and name servers; state and log_access are
shared by all; admin, metrics and statistics show and change the broker.
"""
