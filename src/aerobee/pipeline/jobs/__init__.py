"""What is done with topics on Spark: each job a function from a table to a table, and a start."""
