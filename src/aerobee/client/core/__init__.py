"""Decisions of a client, without sockets, loop or clock: values in, values out."""
