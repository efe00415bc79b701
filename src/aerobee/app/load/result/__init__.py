"""Results of load tests: series, verdict, comparison, report, plot."""
