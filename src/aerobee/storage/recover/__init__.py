"""What is true after a stop: marks, checkpoint, and the way back to a whole log."""
