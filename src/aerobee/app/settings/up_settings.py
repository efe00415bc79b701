"""Settings of `aerobee up`: a name server and brokers, everything in one folder, in small files.

    DIR/namesrv/   the name server's
    DIR/store/     the first broker's: broker-a
    DIR/store-b/   the second one's: broker-b, its ports ten above; and so on

Variables that begin with `AEROBEE_NAMESRV_` and `AEROBEE_BROKER_` apply here, too. In an existing
folder the size of log files stays as it is, so that a folder of an older version can be used.
"""

import os
import string
from collections.abc import Mapping
from dataclasses import dataclass

from aerobee.app.settings import broker_settings, nameserver_settings
from aerobee.app.settings.broker_settings import PORT, BrokerSettings
from aerobee.app.settings.config import BadConfig, Given
from aerobee.app.settings.nameserver_settings import NameServerSettings

BROKERS_MAX = 26
PORT_STEP = 10
_FIRST_STORE = "store"
# A folder to try things out should not look like half a gigabyte.
_SMALL_FILES = {
    "mappedFileSizeCommitLog": str(16 << 20),
    "mappedFileSizeConsumeQueue": "600000",
    "maxHashSlotNum": "100000",
    "maxIndexNum": "400000",
    "mappedFileSizeTimerLog": str(68 * 20_000),
}
# What is worth trying out.
_ALLOWED = {"recallMessageEnable": "true"}
_PLACE = "aerobee up"


@dataclass(frozen=True, slots=True)
class UpFlags:
    """The flags of the command line."""

    folder: str
    host: str | None = None
    port: str | None = None
    nameserver_port: str | None = None
    brokers: int = 1
    beside: Mapping[str, str] | None = None
    """Settings of every broker that count if nothing else is said."""


@dataclass(frozen=True, slots=True)
class UpSettings:
    nameserver: NameServerSettings
    brokers: tuple[BrokerSettings, ...]


def read_settings(flags: UpFlags, environment: Mapping[str, str]) -> UpSettings:
    """Read all settings. BadConfig lists everything that is wrong, of the name server and of the
    brokers."""
    mistakes: list[str] = []
    nameserver: NameServerSettings | None = None
    brokers: list[BrokerSettings] = []
    if not 1 <= flags.brokers <= BROKERS_MAX:
        mistakes.append(f"--brokers must be from 1 to {BROKERS_MAX}, not {flags.brokers}")
    try:
        nameserver = _nameserver(flags, environment)
    except BadConfig as error:
        mistakes += error.mistakes
    try:
        for number in range(flags.brokers):
            first = brokers[0] if brokers else None
            brokers.append(_broker(flags, environment, number, first))
    except BadConfig as error:
        mistakes += error.mistakes
    if mistakes or nameserver is None:
        raise BadConfig(mistakes)
    return UpSettings(nameserver, tuple(brokers))


def store_folder(folder: str, number: int) -> str:
    """Return the folder of a broker's store; the first broker's has no suffix."""
    name = _FIRST_STORE if number == 0 else f"{_FIRST_STORE}-{string.ascii_lowercase[number]}"
    return os.path.join(folder, name)


def brokers_kept(folder: str) -> int:
    """Return how many brokers have a store in a folder."""
    found = (at for at in range(BROKERS_MAX) if os.path.isdir(store_folder(folder, at)))
    return max(found, default=-1) + 1


def _nameserver(flags: UpFlags, environment: Mapping[str, str]) -> NameServerSettings:
    return nameserver_settings.read_settings(
        None,
        environment,
        [
            Given("kvConfigPath", f"{flags.folder}/namesrv/kvConfig.json", "--store"),
            Given("configStorePath", f"{flags.folder}/namesrv/namesrv.properties", "--store"),
            *_given("bindAddress", flags.host, "--host"),
            *_given("listenPort", flags.nameserver_port, "--nameserver-port"),
        ],
    )


def _broker(
    flags: UpFlags, environment: Mapping[str, str], number: int, first: BrokerSettings | None
) -> BrokerSettings:
    root = store_folder(flags.folder, number)
    told = [
        Given("storePathRootDir", root, "--store"),
        *_given("bindAddress", flags.host, "--host"),
        *_given("listenPort", flags.port, "--port"),
    ]
    if flags.brokers > 1:
        told.append(Given("brokerName", f"broker-{string.ascii_lowercase[number]}", "--brokers"))
    if first is not None:
        for key, port in (
            ("listenPort", first.listen.port),
            ("metricsPromExporterPort", first.monitor.port),
        ):
            above = port + PORT_STEP * number if port else 0
            told.append(Given(key, str(above), "--brokers"))
    defaults = {
        **_SMALL_FILES,
        **_log_file_size(root),
        **_ALLOWED,
        **_monitor(flags),
        **(flags.beside or {}),
    }
    return broker_settings.read_settings(
        None, environment, told, [Given(key, text, _PLACE) for key, text in defaults.items()]
    )


def _log_file_size(root: str) -> dict[str, str]:
    """Return the file size of an existing log: all its files have the same."""
    try:
        with os.scandir(f"{root}/commitlog") as entries:
            size = max((entry.stat().st_size for entry in entries), default=0)
    except OSError:
        return {}
    return {"mappedFileSizeCommitLog": str(size)} if size else {}


def _monitor(flags: UpFlags) -> dict[str, str]:
    """Turn the metrics page on by default; with another name server port than the default, on any
    free port, because another cluster may run here."""
    told = {"metricsExporterType": "PROM"}
    if flags.port not in (None, str(PORT)):
        told["metricsPromExporterPort"] = "0"
    return told


def _given(key: str, text: str | None, place: str) -> list[Given]:
    return [] if text is None else [Given(key, text, place)]
