"""The metrics room: a broker's metrics under RocketMQ's names, and its health.

sample_bounds      the limit of samples per metric
traffic_metrics    messages and bytes, in and out; request times
lag, lag_metrics   the lag of groups
client_metrics     connected clients
store_metrics      the log, the disk, syncs
pending_metrics    waiting pulls, open transactions, timers
health             whether the broker is well, and ready
broker_watch       all of it
"""
