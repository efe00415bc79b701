"""Limits of an HTTP/2 connection: what a peer may open, send and leave unread.

The first three and the window are announced to the peer; the rest it finds out.
"""

from typing import NamedTuple


class Http2Limits(NamedTuple):
    streams_max: int = 4_096
    """Streams that are open at a time on one connection."""
    fields_bytes_max: int = 16 << 10
    """Headers of one request, decoded."""
    block_bytes_max: int = 32 << 10
    """Headers of one request as they come, in one frame or several."""
    continuations_max: int = 16
    """Frames of one header block, after the first."""
    stream_window: int = 1 << 20
    """Bytes that a peer may send on a stream before they are taken."""
    connection_window: int = 4 << 20
    unsent_bytes_max: int = 16 << 20
    """Bytes of answers that a peer has not given room for: beyond, it is dropped."""
    idle_frames_a_second: int = 2_000
    """Frames that carry nothing: pings, settings, priorities, empty data, small windows."""
    resets_a_second: int = 1_000
    """Streams that a peer opens and gives up, or makes the server give up."""
