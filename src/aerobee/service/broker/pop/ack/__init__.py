"""Acknowledgements of popped messages, and changes of their invisible time, on both paths."""
