"""A whole examination: runs all checks that were asked for, and sorts the findings.

A check that fails does not stop the others: its failure is a finding, too.

Imports more than 15 modules because it puts the others together.
"""

import asyncio
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from aerobee.app.diagnosis import machine
from aerobee.app.diagnosis.addresses import address_findings, missing_somewhere
from aerobee.app.diagnosis.certificates import certificate_findings
from aerobee.app.diagnosis.clock import clock_findings
from aerobee.app.diagnosis.disk import disk_findings
from aerobee.app.diagnosis.finding import Finding
from aerobee.app.diagnosis.kernel import kernel_findings
from aerobee.app.diagnosis.neighbours import look_at
from aerobee.app.diagnosis.replicas import replica_findings
from aerobee.app.diagnosis.runtime import runtime_findings
from aerobee.app.diagnosis.settings import SettingsFacts, settings_findings
from aerobee.app.process.tls_files import expiries
from aerobee.app.settings import broker_settings
from aerobee.app.settings.config import BadConfig
from aerobee.net.tls_config import TlsConfig
from aerobee.net.tls_context import BadTlsFile
from aerobee.net.tls_state import TlsState


@dataclass(frozen=True, slots=True)
class Subject:
    """The store, configuration and cluster to examine."""

    target: str
    is_target_chosen: bool
    config: str | None = None
    store: str | None = None
    environment: Mapping[str, str] | None = None


def examine(subject: Subject) -> list[Finding]:
    settings, store = _settings(subject)
    neighbours = asyncio.run(look_at(subject.target, is_chosen=subject.is_target_chosen))
    answering = [one.address for one in neighbours.name_servers if not one.complaint]
    clock = replace(machine.clock_facts(), offsets=neighbours.offsets)
    return [
        *runtime_findings(machine.runtime_facts()),
        *kernel_findings(machine.kernel_facts()),
        *disk_findings(machine.disk_facts(subject.store or store)),
        *clock_findings(clock),
        *address_findings(neighbours.name_servers, neighbours.brokers),
        *missing_somewhere(neighbours.brokers, answering),
        *replica_findings(neighbours.replicas),
        *settings,
    ]


def _settings(subject: Subject) -> tuple[list[Finding], str]:
    """Return the findings about the configuration, and the path of the store."""
    usual = broker_settings.BrokerPaths().root
    environment = os.environ if subject.environment is None else subject.environment
    try:
        read = broker_settings.read_settings(subject.config, environment, [])
    except BadConfig as error:
        place = subject.config or "the environment"
        return settings_findings(SettingsFacts(place, error.mistakes)), usual
    if subject.config is None:
        return [], read.paths.root
    facts = SettingsFacts(
        subject.config,
        (),
        read.ignored,
        read.listen.host,
        read.names.host,
        read.nameservers,
        read.storage.flush_mode.name,
        read.is_exposed,
        read.warnings,
        shows_passwords=_shows_passwords(subject.config, read),
    )
    return [*settings_findings(facts), *_certificates(read.tls)], read.paths.root


def _shows_passwords(path: str, read: broker_settings.BrokerSettings) -> bool:
    """Whether others of the machine may read passwords in a file of settings."""
    users = (read.access.init_user, read.access.inner)
    secrets = [one.secret_key for one in users if one is not None]
    secrets += [read.tls.key_password, read.tls.outgoing_key_password]
    with open(os.path.expanduser(path), encoding="utf-8", errors="replace") as file:
        is_open = os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        text = file.read()
    return bool(is_open) and any(secret and secret in text for secret in secrets)


def _certificates(config: TlsConfig) -> list[Finding]:
    if not config.is_used:
        return []
    try:
        TlsState(config)
    except BadTlsFile as error:
        return certificate_findings(str(error), [], time.time())
    return certificate_findings("", expiries(config), time.time())
