"""Settings of the monitoring page: RocketMQ's keys, the same for brokers and name servers.

The page is off unless it is configured. Where users are asked who they are, it asks for their
passwords: so other machines reach it by TLS or not at all.
"""

from dataclasses import dataclass
from enum import Enum

from aerobee.app.settings.config import ListenConfig
from aerobee.app.settings.setting_kinds import HOST
from aerobee.model.setting import Choice, Setting, Whole

LOOPBACK = "127.0.0.1"


class Exporter(Enum):
    DISABLE = "DISABLE"
    PROM = "PROM"


@dataclass(frozen=True, slots=True)
class MonitorConfig:
    exporter: Exporter = Exporter.DISABLE
    port: int = 5557
    host: str = ""
    """Empty: where the process listens; on loopback, if it asks for passwords and has no TLS."""


MONITOR_SETTINGS = (
    Setting("metricsExporterType", "exporter", Choice(Exporter)),
    Setting("metricsPromExporterPort", "port", Whole(0, 65535)),
    Setting("metricsPromExporterHost", "host", HOST),
)


def pages_at(
    monitor: MonitorConfig, listen: ListenConfig, *, asks: bool, encrypts: bool
) -> ListenConfig:
    """Where the pages are. `asks`: for passwords; `encrypts`: nothing travels in clear."""
    host = monitor.host or (LOOPBACK if asks and not encrypts else listen.host)
    return ListenConfig(monitor.port, host)


def page_mistakes(monitor: MonitorConfig, *, asks: bool, encrypts: bool) -> list[str]:
    """Return what is wrong with the place of the pages."""
    is_open = bool(monitor.host) and ListenConfig(monitor.port, monitor.host).is_open
    if monitor.exporter is Exporter.DISABLE or not is_open or not asks or encrypts:
        return []
    return [
        f"metricsPromExporterHost={monitor.host} with authenticationEnabled=true needs "
        "tlsMode=enforcing: the page asks for passwords, which would travel in clear"
    ]
