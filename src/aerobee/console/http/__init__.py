"""HTTP of the console: a table of actions becomes routes, checks, answers and a description."""
