"""What applications import: `aerobee.connect` and what it leads to."""
