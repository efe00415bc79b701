"""Tables the broker keeps."""
