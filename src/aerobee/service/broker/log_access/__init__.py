"""Access to the commit log, shared by all rooms: writing messages, reading old ones, redelivery."""
