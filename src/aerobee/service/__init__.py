"""Command → handler → effects, sans-IO."""
