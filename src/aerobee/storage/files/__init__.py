"""Files as mapped buffers."""
