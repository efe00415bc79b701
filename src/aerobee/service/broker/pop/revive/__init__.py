"""Reviving: popped messages that were not acknowledged in time come back."""
