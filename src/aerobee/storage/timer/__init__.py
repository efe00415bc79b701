"""Files of the timer: which messages wait for which tick. Derived from the log, like an index."""
