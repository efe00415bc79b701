"""Values: no I/O, no behaviour beyond their own invariants."""
