"""App: functions that handle messages, and how they are bound and called."""
