"""A sync that fails is the last: nothing is acknowledged after it, and nothing that was is lost."""
