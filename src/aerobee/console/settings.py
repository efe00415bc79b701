"""Settings of a console: a file, variables that begin with `AEROBEE_CONSOLE_`, flags.

    defaults  <  file (-c)  <  environment  <  flags

Off loopback a log-in is always needed, and TLS, unless `insecure=true` says otherwise. On loopback
neither is, unless `loginRequired=true` says so.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aerobee.app.settings.config import (
    INSECURE_SETTING,
    PATH,
    Given,
    ListenConfig,
    Reading,
    given_in_environment,
    given_in_file,
)
from aerobee.app.settings.tls_settings import TLS_KEYS, given_in_tls_file, with_our_names
from aerobee.model.setting import PORT as PORT_KIND
from aerobee.model.setting import TEXT, TRUTH, Setting
from aerobee.net.tls_config import SETTINGS as TLS_SETTINGS
from aerobee.net.tls_config import TlsConfig, TlsMode

PREFIX = "AEROBEE_CONSOLE_"
PORT = 8080
OWN, CLUSTER = ("own", "cluster")
NO_TLS = TlsConfig(is_outgoing=False)
_PAGE = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}|\[[0-9A-Fa-f:]+\]:[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class ConsoleConfig:
    """The settings of a console."""

    port: int = PORT
    """0: any that is free."""
    host: str = "127.0.0.1"
    """Another one needs a log-in, and TLS."""
    is_insecure: bool = False
    """Whether passwords and sessions may come from other machines without TLS."""
    name_servers: str = "127.0.0.1:9876"
    """The cluster, as every command takes it: host:port, or rmq://key:secret@host:port."""
    folder: str = os.path.expanduser("~/.local/state/aerobee/console")
    """Where history, users and the record of actions are kept."""
    is_login_required: bool = False
    """Whether a log-in is needed on loopback, too."""
    hosts: str = ""
    """Names, with commas in between, by which browsers may call the console, besides localhost
    and IP addresses."""
    login_users: str = OWN
    """Whose users log in: the console's own, or those of the cluster."""
    cluster_roles: str = ""
    """Roles of users of the cluster: alice:operator,*:viewer."""
    prometheus: str = ""
    """The address of a Prometheus that scrapes the brokers: http://127.0.0.1:9090."""
    pipeline_pages: str = ""
    """Pages of metrics of Spark jobs, host:port with commas in between."""
    is_mcp_changing: bool = False
    """Whether assistants may change things, too."""
    tls: TlsConfig = NO_TLS
    """How browsers are served; enforcing: by HTTPS."""

    def __post_init__(self) -> None:
        if self.login_users not in (OWN, CLUSTER):
            raise ValueError(f"loginUsers must be {OWN} or {CLUSTER}")
        if self.prometheus and not self.prometheus.startswith(("http://", "https://")):
            raise ValueError("prometheusUrl must begin with http:// or https://")
        for page in self.pages_of_jobs:
            if not _PAGE.fullmatch(page):
                raise ValueError(f"pipelinePages must be HOST:PORT with commas, not {page}")

    @property
    def is_open(self) -> bool:
        """Whether other machines may reach it."""
        return ListenConfig(self.port, self.host).is_open

    @property
    def needs_login(self) -> bool:
        return self.is_login_required or self.is_open

    @property
    def has_tls(self) -> bool:
        return self.tls.mode is not TlsMode.DISABLED

    @property
    def pages_of_jobs(self) -> tuple[str, ...]:
        return tuple(one.strip() for one in self.pipeline_pages.split(",") if one.strip())

    @property
    def host_names(self) -> frozenset[str]:
        return frozenset(one.strip().lower() for one in self.hosts.split(",") if one.strip())


SETTINGS = (
    Setting("listenPort", "port", PORT_KIND),
    Setting("bindAddress", "host", TEXT),
    INSECURE_SETTING,
    Setting("namesrvAddr", "name_servers", TEXT),
    Setting("dataPath", "folder", PATH),
    Setting("loginRequired", "is_login_required", TRUTH),
    Setting("consoleHosts", "hosts", TEXT),
    Setting("loginUsers", "login_users", TEXT),
    Setting("clusterRoles", "cluster_roles", TEXT),
    Setting("prometheusUrl", "prometheus", TEXT),
    Setting("pipelinePages", "pipeline_pages", TEXT),
    Setting("mcpChanges", "is_mcp_changing", TRUTH),
)

_SHORT = {"tlsCertPath": "tlsCertificate", "tlsKeyPath": "tlsKey"}
_TLS_SETTINGS = [
    setting
    for setting in TLS_SETTINGS
    if setting.key != "tlsPeers" and not setting.key.startswith("tlsOutgoing")
]
"""Those of ports: a console has no slaves."""


def read_settings(
    file: str | None, environment: Mapping[str, str], flags: Sequence[Given]
) -> ConsoleConfig:
    """Read the settings of a console. BadConfig lists everything that is wrong."""
    in_file = given_in_file(file) if file is not None else []
    keys = [*(setting.key for setting in SETTINGS), *TLS_KEYS, *_SHORT]
    highest = _with_tls_names([*given_in_environment(environment, PREFIX, keys), *flags])
    lowest = _with_tls_names([*given_in_tls_file([*in_file, *highest]), *in_file])
    reading = Reading([*lowest, *highest], prefix=PREFIX, ignored=())
    config = reading.build(ConsoleConfig(), SETTINGS)
    # It connects to the cluster as `namesrvAddr` says: rmqs://, with the authority.
    tls = reading.build(NO_TLS, _TLS_SETTINGS)
    if tls.mode is TlsMode.PERMISSIVE:
        reading.refuse(["tlsMode must be disabled or enforcing: a log-in is no plain text"])
    if config.is_open and tls.mode is TlsMode.DISABLED and not config.is_insecure:
        reading.refuse(
            [
                f"bindAddress={config.host} is open to other machines, and passwords would travel "
                "as plain text: set tlsMode=enforcing, tlsCertificate and tlsKey; to be open all "
                "the same, say --insecure (insecure=true)"
            ]
        )
    reading.finish()
    return replace(config, tls=tls)


def _with_tls_names(given: Sequence[Given]) -> list[Given]:
    """Return the same values under the names that servers have, too. A pair of files without a mode
    makes the console speak HTTPS."""
    named = with_our_names([one._replace(key=_SHORT.get(one.key, one.key)) for one in given])
    places = [one.place for one in given if one.key in _SHORT]
    return [*(Given("tlsMode", TlsMode.ENFORCING.value, place) for place in places), *named]
