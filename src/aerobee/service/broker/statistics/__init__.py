"""What passes through a broker, counted: per topic, per group and topic, and all together.

windows      a minute, an hour and a day of one counter
flow         messages and bytes of one kind
statistics   all flows, and RocketMQ's names for them
"""
