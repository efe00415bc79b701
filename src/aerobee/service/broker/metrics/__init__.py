"""What those who watch a broker are shown: metrics under RocketMQ's names, and whether it is well.

bounds           how many samples there may be
traffic          messages and bytes, in and out; how long requests take
lag, lag_metrics how far groups are behind
clients          who is connected
store_state      the log, the disk, syncs
pending          what waits: pulls, transactions, timers
health           whether it is well, whether it is ready
broker_watch     all of it
"""
