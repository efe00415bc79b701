"""Name server and broker: take commands and the time, and return effects, without I/O.

broker           the broker
nameserver       the name server
filters          SQL92 filters of consumers
request          a request and its answer, for both
live_config, config_requests   settings that can be changed while the process runs
"""
