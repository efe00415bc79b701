"""All settings of Aerobee's servers, with their meanings, for `aerobee config`.

The meaning of a setting is written once, below its field in the configuration class, and read from
that source. Its valid values are the text with which its kind refuses others.
"""

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aerobee.app.settings import broker_settings, config, nameserver_settings
from aerobee.app.settings.audit_settings import AUDIT_SETTINGS, AuditConfig
from aerobee.app.settings.monitor_settings import MONITOR_SETTINGS, MonitorConfig
from aerobee.model.setting import Kind, Setting, texts
from aerobee.net.tls_config import SETTINGS as TLS_SETTINGS
from aerobee.net.tls_config import TlsConfig
from aerobee.replication.config import SETTINGS as REPLICATION_SETTINGS
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.group_config import GROUP_SETTINGS, RaftGroupConfig
from aerobee.service.access.config import CLASS_SETTINGS, AccessClasses, AccessConfig
from aerobee.service.access.config import SETTINGS as ACCESS_SETTINGS
from aerobee.service.broker.config import SETTINGS as BROKER_SERVICE
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.nameserver.config import SETTINGS as NAME_SERVER_SERVICE
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.storage.config import StorageConfig

BROKER, NAME_SERVER = SERVERS = ("broker", "nameserver")
_NOTHING_MEANT = "\0"  # a value that no kind but text takes


class KnownSetting(NamedTuple):
    server: str
    key: str
    """RocketMQ's name for it."""
    default: str
    wanted: str
    """Which values it takes."""
    is_live: bool
    """Whether it can be changed while the server runs."""
    variable: str
    """The environment variable that sets it."""
    meaning: str
    """Empty: its name says it."""


def known_settings(server: str) -> list[KnownSetting]:
    """Return the settings in the order in which they are read."""
    is_broker = server == BROKER
    prefix = broker_settings.PREFIX if is_broker else nameserver_settings.PREFIX
    return [
        KnownSetting(
            server,
            setting.key,
            defaults[setting.key],
            _wanted(setting.kind),
            setting.is_live,
            config.environment_name(prefix, setting.key),
            notes.get(setting.field, ""),
        )
        for default, settings in (_of_broker() if is_broker else _of_name_server())
        for defaults in [texts(default, settings)]
        for notes in [_field_notes(type(default))]
        for setting in settings
    ]


def ignored_settings(server: str) -> frozenset[str]:
    """Return RocketMQ's settings that are accepted and have no effect here."""
    return broker_settings.IGNORED if server == BROKER else nameserver_settings.IGNORED


def _of_broker() -> Iterator[tuple[object, Sequence[Setting]]]:
    yield config.ListenConfig(broker_settings.PORT), broker_settings.LISTEN_SETTINGS
    yield broker_settings.BrokerNames(), broker_settings.NAME_SETTINGS
    yield broker_settings.BrokerLinks(), broker_settings.LINK_SETTINGS
    yield MonitorConfig(), MONITOR_SETTINGS
    yield AuditConfig(), AUDIT_SETTINGS
    yield broker_settings.BrokerPaths(), broker_settings.PATH_SETTINGS
    yield StorageConfig(), broker_settings.STORAGE_SETTINGS
    yield ReplicationConfig(), REPLICATION_SETTINGS
    yield RaftGroupConfig(), GROUP_SETTINGS
    yield broker_settings.DiskPatience(), broker_settings.PATIENCE_SETTINGS
    yield broker_settings.Fixed(), broker_settings.FIXED_SETTINGS
    yield AccessConfig(), ACCESS_SETTINGS
    yield AccessClasses(), CLASS_SETTINGS
    yield broker_settings.KeyPath(), broker_settings.KEY_SETTINGS
    yield TlsConfig(), TLS_SETTINGS
    yield BrokerConfig(), BROKER_SERVICE


def _of_name_server() -> Iterator[tuple[object, Sequence[Setting]]]:
    yield config.ListenConfig(nameserver_settings.PORT), config.LISTEN_SETTINGS
    yield nameserver_settings.NameServerPaths(), nameserver_settings.PATH_SETTINGS
    yield MonitorConfig(port=nameserver_settings.MONITOR_PORT), MONITOR_SETTINGS
    yield AuditConfig(), AUDIT_SETTINGS
    yield AccessConfig(), ACCESS_SETTINGS
    yield AccessClasses(), CLASS_SETTINGS
    yield TlsConfig(), TLS_SETTINGS
    yield NameServerConfig(), NAME_SERVER_SERVICE


def _wanted(kind: Kind) -> str:
    try:
        kind.read(_NOTHING_MEANT)
    except ValueError as wanted:
        return str(wanted)
    return "text"


def _field_notes(kind: type[object]) -> dict[str, str]:
    """Return the text below each field, also those of base classes, by field; empty where the
    source is not available."""
    notes: dict[str, str] = {}
    for base in kind.__bases__:
        if base is not object:
            notes |= _field_notes(base)
    try:
        (tree,) = ast.parse(inspect.getsource(kind)).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return notes
    assert isinstance(tree, ast.ClassDef)
    for field, note in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(note, ast.Expr)
            and isinstance(note.value, ast.Constant)
            and isinstance(note.value.value, str)
        ):
            notes[field.target.id] = " ".join(note.value.value.split())
    return notes
