"""Benchmarks, run by hand: `make bench`.

Every figure is taken compiled and pure in one run, alternating, on the same store directory, and
printed with their ratio: absolute numbers of a shared machine are noise, ratios are not.
"""
