"""The disk of a running writer is cut off, on real file systems."""
