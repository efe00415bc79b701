"""Answers to pulls, pops and acknowledgements written in place, and the receipt of a pop."""
