"""Jobs on Spark: each has a function from a table to a table, and a start."""
