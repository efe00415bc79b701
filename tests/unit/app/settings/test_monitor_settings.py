"""Where a process is watched, as RocketMQ's keys say it."""

from aerobee.app.settings.config import Given, Reading
from aerobee.app.settings.monitor_settings import MONITOR_SETTINGS, Exporter, MonitorConfig


def read(**values: str) -> MonitorConfig:
    reading = Reading(
        [Given(key, text, "the test") for key, text in values.items()], prefix="X_", ignored=()
    )
    found = reading.build(MonitorConfig(), MONITOR_SETTINGS)
    reading.finish()
    return found


def test_nobody_watches_unless_it_is_said() -> None:
    assert read() == MonitorConfig(Exporter.DISABLE, 5557, "")


def test_where_it_is_watched_is_said_by_three_keys() -> None:
    told = read(
        metricsExporterType="PROM", metricsPromExporterPort="0", metricsPromExporterHost="::1"
    )
    assert told == MonitorConfig(Exporter.PROM, 0, "::1")
