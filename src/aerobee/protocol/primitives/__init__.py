"""Numbers, bytes and hashes as Java and RocketMQ write them, with their C twins."""
