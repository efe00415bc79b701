"""Watching a cluster: polls within a budget, the newest figures, the names that there are."""
