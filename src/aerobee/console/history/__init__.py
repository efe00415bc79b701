"""History of figures: series of numbers in steps of a second, ten seconds and five minutes."""
