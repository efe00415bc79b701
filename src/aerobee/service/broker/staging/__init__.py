"""Batches that wait in the log until a whole round of them is published (docs/formats/staging.md).

staged       a batch in the log that no queue of its topic has yet
decisions    which round of a writer was decided to be published, on the disk before it is
publishing   what was decided is done, whatever stops it
"""
