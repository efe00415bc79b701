"""Migration of a running broker, RocketMQ's or Aerobee's, to a new Aerobee broker of its name."""
