"""A message as bytes: draft, record, batch, producer mark, compression, filters over properties."""
