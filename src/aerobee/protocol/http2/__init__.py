"""HTTP/2 as a server speaks it (RFC 9113), without a socket: bytes in, events out, bytes to write.

Only the part that gRPC needs: no push, no priorities, no upgrade from HTTP/1.1.
"""
