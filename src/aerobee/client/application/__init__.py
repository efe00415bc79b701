"""`App`: functions declared as handlers of messages, bound to their arguments and run."""
