"""Which files may go."""
