"""Small state files of the store: `config/*.json`, in RocketMQ's own dialect, replaced whole."""
