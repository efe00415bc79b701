"""Settings of processes: files, variables, flags and RocketMQ's names for them."""
