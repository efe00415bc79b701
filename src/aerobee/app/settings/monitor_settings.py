"""Settings of the monitoring page: RocketMQ's keys, the same for brokers and name servers.

The page has no access control, so it is off unless it is configured.
"""

from dataclasses import dataclass
from enum import Enum

from aerobee.app.settings.setting_kinds import HOST
from aerobee.model.setting import Choice, Setting, Whole


class Exporter(Enum):
    DISABLE = "DISABLE"
    PROM = "PROM"


@dataclass(frozen=True, slots=True)
class MonitorConfig:
    exporter: Exporter = Exporter.DISABLE
    port: int = 5557
    host: str = ""
    """Empty: where the process listens."""


MONITOR_SETTINGS = (
    Setting("metricsExporterType", "exporter", Choice(Exporter)),
    Setting("metricsPromExporterPort", "port", Whole(0, 65535)),
    Setting("metricsPromExporterHost", "host", HOST),
)
