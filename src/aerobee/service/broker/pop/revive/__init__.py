"""Reviving: popped messages that were not acknowledged in time are stored again for their group."""
