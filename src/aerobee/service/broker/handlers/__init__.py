"""What a broker does for each request: one small object per family, with its rows of the table."""
