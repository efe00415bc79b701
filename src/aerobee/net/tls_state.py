"""TlsState: the contexts that the ports and connections of one process use now, and what became of
handshakes.

Contexts are replaced as a whole when their files change: connections that are open keep theirs.
"""

import ssl

from aerobee.net.tls_config import Asked, TlsConfig, TlsMode
from aerobee.net.tls_context import HTTP1, outgoing_context, server_context


class TlsState:
    """All of one process."""

    def __init__(self, config: TlsConfig) -> None:
        """BadTlsFile: a file cannot be used."""
        self.config = config
        self.service: ssl.SSLContext | None = None
        """Of ports for clients; None: nobody speaks TLS there."""
        self.pages: ssl.SSLContext | None = None
        """Of pages of HTTP: metrics, the console. A browser that could speak HTTP/2 learns here
        that these do not."""
        self.links: ssl.SSLContext | None = None
        """Of the HA port: those who connect show a certificate."""
        self.outgoing: ssl.SSLContext | None = None
        """Of connections to others; None: they are plain."""
        self.handshakes = 0
        """That came to their end."""
        self.failures = 0
        self.plain_refusals = 0
        """Connections that spoke no TLS where only TLS is spoken."""
        self.load()

    @property
    def allows_plain(self) -> bool:
        return self.config.mode is not TlsMode.ENFORCING

    def load(self) -> None:
        """Read all files again. BadTlsFile: one cannot be used, and nothing was changed."""
        config = self.config
        service = pages = links = outgoing = None
        if config.mode is not TlsMode.DISABLED:
            service = server_context(config, config.asks_clients)
            pages = server_context(config, config.asks_clients, HTTP1)
            links = server_context(config, Asked.REQUIRE)
        if config.dials_tls:
            outgoing = outgoing_context(config)
        self.service, self.pages = service, pages
        self.links, self.outgoing = links, outgoing
