"""What a client decides, without sockets, loop or clock: values in, values out."""
