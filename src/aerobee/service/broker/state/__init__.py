"""The broker's tables and their files: topics, groups, offsets, filters, staged rounds."""
