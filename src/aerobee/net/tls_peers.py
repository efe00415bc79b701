"""Names of brokers in certificates: whether the one that was shown on an HA link may copy the log.

A certificate of a host has names or addresses (subjectAltName); one that `aerobee tls issue
--client` makes for an application has none, so that no application is a slave.
"""

import ssl
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from aerobee.net.tls_config import TlsConfig

_KINDS = ("DNS", "IP Address")


def names_in(certificate: Mapping[str, Any]) -> list[str]:
    """The names and addresses of hosts in a certificate that was checked."""
    return [
        str(value).lower()
        for kind, value in certificate.get("subjectAltName", ())
        if kind in _KINDS
    ]


def refusal_of_link(config: TlsConfig, shown: ssl.SSLObject) -> str:
    """Say why the one who opened a link may not copy the log; empty: it may."""
    names = names_in(shown.getpeercert() or {})
    if not names:
        return "the certificate of the slave names no host: it is a client's"
    if config.peers and not any(
        fnmatchcase(name, wanted) for name in names for wanted in config.peers
    ):
        return f"the certificate of the slave is of {', '.join(names)}, and tlsPeers names others"
    return ""
