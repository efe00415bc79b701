"""Measurements of load tests: histograms, CPU and memory of processes, facts of the cluster."""
