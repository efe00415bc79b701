"""Doors: the bound sockets of a broker, which outlive its lives, how TLS is spoken on them, and
what is told of refused requests and changes.

They know the addresses by which others reach them.
"""

import socket
from collections.abc import Sequence
from typing import NamedTuple

from aerobee.net.listener import outward_address, packed_address
from aerobee.net.tls_state import TlsState
from aerobee.ports.audit import AuditSink


class Doors(NamedTuple):
    port: int
    sockets: Sequence[socket.socket]
    ha_port: int
    ha_sockets: Sequence[socket.socket]
    """For slaves of this broker."""
    tls: TlsState | None = None
    """None: everything is plain."""
    grpc_port: int = 0
    grpc_sockets: Sequence[socket.socket] = ()
    """For clients of gRPC; none: they are not served."""
    audit: AuditSink | None = None
    """Takes what the audit trail has; None: there is none."""

    def outward_host(self, host: str) -> str:
        """The host under which others reach one that was bound to."""
        return outward_address(host)

    def packed_address(self, host: str) -> bytes:
        """The address of a host and the port, as message ids hold it. OSError: there is none."""
        return packed_address(host, self.port)
