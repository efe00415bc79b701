"""TlsFiles reads the certificates of a process, reads them again when they change, and tells in
time that one expires: in the log and in metrics.

Files are looked at once a second. Until all of them fit together (a certificate may be written
before its key) the old ones stay in use; connections that are open keep theirs in any case.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aerobee.app.process.lifecycle import CannotStart
from aerobee.errors import ProtocolError
from aerobee.model.metric import Metric, Sample, counter, gauge
from aerobee.net.tls_config import TlsConfig
from aerobee.net.tls_context import BadTlsFile
from aerobee.net.tls_state import TlsState
from aerobee.protocol.text.certificate import BYTES_MAX, read_certificates

_log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
DAY_SECONDS = 86_400
WARNING_DAYS = (30, 7, 1)
"""Days before the end at which it is told."""


class Expiry(NamedTuple):
    use: str
    """own, authority, outgoing, outgoing_authority"""
    path: str
    subject: str
    ends: int
    """Seconds since 1970."""

    def days_left(self, now: float) -> float:
        return (self.ends - now) / DAY_SECONDS


class TlsFiles:
    """The certificates of one process."""

    def __init__(self, config: TlsConfig, watch_seconds: float = WATCH_SECONDS) -> None:
        """CannotStart: a file cannot be used."""
        try:
            self.state = TlsState(config)
        except BadTlsFile as error:
            raise CannotStart(error.message, hint=error.hint) from None
        self._watch_seconds = watch_seconds
        self._seen = self._look()
        self._expiries = expiries(config)
        # By path: the least number of days that was told.
        self._told: dict[str, int] = {}
        self._fault = ""
        self._task: asyncio.Task[None] | None = None
        self.reloads = 0

    def start(self) -> None:
        self._tell_expiry()
        self._task = asyncio.get_running_loop().create_task(self._watch())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def metrics(self) -> Iterator[Metric]:
        yield gauge(
            "aerobee_tls_certificate_not_after_seconds",
            "When a certificate in use expires, since 1970",
            [Sample({"certificate": one.use}, one.ends) for one in self._expiries],
        )
        state = self.state
        yield counter(
            "aerobee_tls_handshakes_total",
            "TLS handshakes of those who connected",
            [
                Sample({"outcome": "done"}, state.handshakes),
                Sample({"outcome": "failed"}, state.failures),
            ],
        )
        yield counter(
            "aerobee_tls_plain_refused_total",
            "Connections without TLS where only TLS is spoken",
            [Sample({}, state.plain_refusals)],
        )
        yield counter(
            "aerobee_tls_reloads_total",
            "Times that certificates were read again",
            [Sample({}, self.reloads)],
        )

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._watch_seconds)
            self.look_again()

    def look_again(self) -> None:
        """Read the files again if one of them changed; tell of those that expire."""
        seen = self._look()
        if seen != self._seen or self._fault:
            self._seen = seen
            self._load()
        self._tell_expiry()

    def _load(self) -> None:
        try:
            self.state.load()
        except BadTlsFile as error:
            if error.message != self._fault:
                self._fault = error.message
                _log.warning("certificates changed and cannot be used yet: %s", error)
            return
        self._fault = ""
        self._expiries = expiries(self.state.config)
        self._told.clear()
        self.reloads += 1
        _log.info("certificates were read again")

    def _look(self) -> Sequence[tuple[str, int, int, int]]:
        return [_look_at(path) for path in _paths(self.state.config)]

    def _tell_expiry(self) -> None:
        now = time.time()
        for one in self._expiries:
            left = one.days_left(now)
            reached = [days for days in (*WARNING_DAYS, 0) if left <= days]
            if not reached or self._told.get(one.path, DAY_SECONDS) <= reached[-1]:
                continue
            self._told[one.path] = reached[-1]
            _log.log(
                logging.WARNING if left > 1 else logging.ERROR,
                "the certificate %s of %s %s: make a new one (`aerobee tls issue`), "
                "it is read without a restart",
                one.path,
                one.subject,
                "has expired" if left <= 0 else f"expires in {left:.1f} days",
            )


def tls_files_of(config: TlsConfig, undo: contextlib.AsyncExitStack) -> TlsFiles | None:
    """Read and watch the certificates of a process until `undo` is done; None: it has none."""
    if not config.is_used:
        return None
    files = TlsFiles(config)
    files.start()
    undo.callback(files.stop)
    return files


def expiries(config: TlsConfig) -> list[Expiry]:
    """Return the first certificate to end in each file of certificates in use."""
    found = []
    for use, path in _certificate_paths(config).items():
        try:
            with open(os.path.expanduser(path), encoding="ascii", errors="replace") as file:
                first = min(read_certificates(file.read(BYTES_MAX)), key=lambda one: one.ends)
        except (OSError, ProtocolError):
            continue  # OpenSSL said what is wrong with it
        found.append(Expiry(use, path, first.subject or ", ".join(first.hosts), first.ends))
    return found


def _certificate_paths(config: TlsConfig) -> dict[str, str]:
    """Return the files of certificates by their use."""
    files = {
        "own": config.certificate,
        "authority": config.authority,
        "outgoing": config.outgoing_certificate,
        "outgoing_authority": config.outgoing_authority,
    }
    return {use: path for use, path in files.items() if path}


def _paths(config: TlsConfig) -> list[str]:
    keys = [path for path in (config.key, config.outgoing_key) if path]
    return [*_certificate_paths(config).values(), *keys]


def _look_at(path: str) -> tuple[str, int, int, int]:
    try:
        seen = os.stat(os.path.expanduser(path))
    except OSError:
        return path, 0, 0, 0
    return path, seen.st_mtime_ns, seen.st_size, seen.st_ino
