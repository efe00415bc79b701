import pytest

from aerobee.app.settings import broker_settings, nameserver_settings
from aerobee.app.settings.known_settings import SERVERS, ignored_settings, known_settings


def test_every_setting_that_is_read_is_known() -> None:
    broker = [one.key for one in known_settings("broker")]
    assert broker == [setting.key for setting in broker_settings.ALL_SETTINGS]
    name_server = {one.key for one in known_settings("nameserver")}
    assert name_server == {setting.key for setting in nameserver_settings.ALL_SETTINGS}


def test_a_setting_says_what_it_means_takes_and_is_by_default() -> None:
    settings = {one.key: one for one in known_settings("broker")}
    flush = settings["flushDiskType"]
    assert (flush.default, flush.wanted) == ("ASYNC_FLUSH", "ASYNC_FLUSH or SYNC_FLUSH")
    assert flush.variable == "AEROBEE_BROKER_FLUSH_DISK_TYPE"
    assert "power cut" in flush.meaning
    assert not flush.is_live
    kept = settings["fileReservedTime"]
    assert (kept.default, kept.wanted, kept.is_live) == (
        "72",
        "a whole number from 1 to 87600",
        True,
    )
    assert settings["brokerIP1"].meaning.startswith("Where clients reach it")


@pytest.mark.parametrize("server", SERVERS)
def test_what_means_nothing_is_not_known(server: str) -> None:
    assert not ignored_settings(server) & {one.key for one in known_settings(server)}
