"""Acknowledging popped messages, and changing how long they are hidden."""
