"""`aerobee mqadmin SUB …`: RocketMQ's own tool, by its names, flags and columns."""
