import pytest

from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.nameserver.config import SETTINGS, NameServerConfig
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker

PATH = "namesrv/namesrv.properties"


class Live:
    def __init__(self, changes: dict[str, str] | None = None) -> None:
        self.disk = SimDisk()
        self.worker = SimDiskWorker()
        self.told: list[BaseException | None] = []
        fixed = {"listenPort": "9876"}
        config = NameServerConfig()
        file = ChangesFile(self.disk, PATH, changes or {})
        none = {"clusterTest": "", "rocketmqHome": "it is written in Java"}
        self.config = LiveConfig(config, SETTINGS, file, self.worker, fixed, none)

    def change(self, **values: str) -> None:
        self.config.change(values, self.told.append)


def test_a_change_counts_once_it_is_on_the_disk() -> None:
    live = Live({"enableTopicList": "true"})
    live.change(orderMessageEnable="true", waitSecondsForService="7")
    assert not live.config.current.has_order_in_routes
    live.worker.run_all()
    live.worker.collect()
    assert live.told == [None]
    assert live.config.current == NameServerConfig(has_order_in_routes=True, wait_ms=7000)
    assert live.disk.read(PATH) == (
        b"enableTopicList=true\norderMessageEnable=true\nwaitSecondsForService=7\n"
    )


def test_a_change_that_is_not_saved_does_not_count() -> None:
    live = Live()
    live.disk.make_directory(PATH)
    live.change(orderMessageEnable="true")
    live.worker.run_all()
    live.worker.collect()
    assert isinstance(live.told[0], OSError)
    assert not live.config.current.has_order_in_routes


def test_a_value_of_the_wrong_kind_changes_nothing() -> None:
    live = Live()
    with pytest.raises(ValueError, match="orderMessageEnable must be true or false"):
        live.change(enableTopicList="false", orderMessageEnable="yes")
    assert live.worker.pending() == 0


def test_what_is_not_on_the_list_is_forbidden_with_a_reason() -> None:
    live = Live()
    wanted = {"orderMessageEnable": "", "kvConfigPath": "/", "listenPort": "1"}
    assert live.config.find_forbidden(wanted) == [
        "kvConfigPath cannot be changed by a request",
        "listenPort is read at the start: change it in the file and restart",
    ]
    assert live.config.find_forbidden({"orderMessageEnable": ""}) == []


def test_what_has_no_effect_here_is_forbidden_with_the_reason() -> None:
    assert Live().config.find_forbidden({"clusterTest": "true", "rocketmqHome": "/"}) == [
        "clusterTest has no effect here",
        "rocketmqHome has no effect here: it is written in Java",
    ]


def test_every_value_of_the_wrong_kind_is_found() -> None:
    live = Live()
    wanted = {"orderMessageEnable": "yes", "waitSecondsForService": "x", "kvConfigPath": "/"}
    found = live.config.find_misfits(wanted)
    assert [text.split()[0] for text in found] == ["orderMessageEnable", "waitSecondsForService"]
    assert live.config.find_misfits({"orderMessageEnable": "true"}) == []


def test_everything_that_may_be_shown_is_and_no_path() -> None:
    shown = Live().config.texts()
    assert shown["listenPort"] == "9876"
    assert shown["waitSecondsForService"] == "45"
    assert list(shown) == sorted(shown)
    assert not [key for key in shown if "path" in key.lower() or "home" in key.lower()]


def test_who_wants_to_know_is_told_of_a_change_once_it_counts() -> None:
    live = Live()
    heard: list[tuple[bool, bool]] = []
    live.config.when_changed(
        lambda before, now: heard.append((before.has_order_in_routes, now.has_order_in_routes))
    )
    live.change(orderMessageEnable="true")
    assert heard == []
    live.worker.run_all()
    live.worker.collect()
    assert heard == [(False, True)]
