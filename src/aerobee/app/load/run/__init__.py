"""Runs of load tests: trials, worker fleets, rate searches, capacity, the live view."""
