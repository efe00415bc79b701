"""The broker: commands in, effects out, sans-IO."""
