"""Spark's surroundings: Java, Spark's home, caches, a worker's memory and client, option texts."""
