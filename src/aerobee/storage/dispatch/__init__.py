"""One scan of the log feeds every index."""
