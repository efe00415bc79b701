"""The address at which a process is watched, as RocketMQ's keys say it."""

import pytest

from aerobee.app.settings.config import Given, ListenConfig, Reading
from aerobee.app.settings.monitor_settings import (
    MONITOR_SETTINGS,
    Exporter,
    MonitorConfig,
    page_mistakes,
    pages_at,
)


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


@pytest.mark.parametrize(
    ("host", "asks", "encrypts", "at"),
    [
        ("", False, False, "10.0.0.1"),
        ("", True, True, "10.0.0.1"),
        ("", True, False, "127.0.0.1"),
        ("10.0.0.2", True, True, "10.0.0.2"),
        ("::1", True, False, "::1"),
    ],
)
def test_a_page_that_asks_for_passwords_is_reached_by_tls_or_from_this_machine(
    host: str, asks: bool, encrypts: bool, at: str
) -> None:
    monitor = MonitorConfig(Exporter.PROM, 5557, host)
    listen = ListenConfig(10911, "10.0.0.1")
    assert pages_at(monitor, listen, asks=asks, encrypts=encrypts) == ListenConfig(5557, at)
    assert page_mistakes(monitor, asks=asks, encrypts=encrypts) == []


def test_a_page_that_would_have_passwords_travel_in_clear_is_refused() -> None:
    monitor = MonitorConfig(Exporter.PROM, 5557, "10.0.0.2")
    (wrong,) = page_mistakes(monitor, asks=True, encrypts=False)
    assert "tlsMode=enforcing" in wrong
    off = MonitorConfig(Exporter.DISABLE, 5557, "10.0.0.2")
    assert page_mistakes(off, asks=True, encrypts=False) == []
