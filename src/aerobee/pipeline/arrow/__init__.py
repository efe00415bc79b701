"""Arrow batches from stored messages: records to columns to batches."""
