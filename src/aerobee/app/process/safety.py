"""Safety: what guards the ports of a process and tells of it. Certificates, the audit trail, and
whether the ports are open to everybody.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.app.process.audit_file import AuditFile
from aerobee.app.process.tls_files import TlsFiles, tls_files_of
from aerobee.app.settings.audit_settings import AuditConfig
from aerobee.model.metric import Metric, single_gauge
from aerobee.net.tls_config import TlsConfig
from aerobee.net.tls_state import TlsState
from aerobee.ports.audit import AuditSink


class Safety(NamedTuple):
    tls: TlsFiles | None = None
    audit: AuditFile | None = None
    is_exposed: bool = False
    asks: bool = False
    """Whether users are asked who they are."""

    @property
    def tls_state(self) -> TlsState | None:
        return None if self.tls is None else self.tls.state

    @property
    def audit_sink(self) -> AuditSink | None:
        return None if self.audit is None else self.audit.write

    def metrics(self) -> Iterator[Metric]:
        yield single_gauge(
            "aerobee_insecure",
            "1: open to other machines, and nobody is asked who it is",
            int(self.is_exposed),
        )
        if self.tls is not None:
            yield from self.tls.metrics()
        if self.audit is not None:
            yield from self.audit.metrics()


def safety_of(
    tls: TlsConfig,
    audit: AuditConfig,
    home: str,
    undo: contextlib.AsyncExitStack,
    *,
    is_exposed: bool,
    asks: bool,
) -> Safety:
    """Begin to watch certificates and to write the audit trail, until `undo` is done. `home` is the
    folder in which the trail is, unless its settings say otherwise."""
    file = None
    if audit.is_on:
        file = AuditFile(os.path.expanduser(audit.folder) or os.path.join(home, "audit"), audit)
        undo.callback(file.close)
    return Safety(tls_files_of(tls, undo), file, is_exposed, asks)
