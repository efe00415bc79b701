"""Statistics: messages and bytes counted per topic, per group and topic, and for the broker.

windows         a minute, an hour and a day of one counter
flow            messages and bytes of one kind
statistics      all flows, and RocketMQ's names for them
message_sizes   histograms of message sizes
request_times   histograms of request times
throughput      rates for GET_BROKER_RUNTIME_INFO
"""
