"""Unit tests of the file of filters: Apache's form, what is in it and for how long."""

import json
import logging
from typing import Any

import pytest

from aerobee.errors import CorruptFile
from aerobee.model.subscription import Subscription
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.clients.consumers import Consumers, Member
from aerobee.service.broker.state.consumer_filter_file import (
    DEAD_MS_MAX,
    INTERVAL_MS,
    ConsumerFilterFile,
)
from aerobee.service.filters.bloom_positions import bloom_positions
from aerobee.service.filters.filter_cache import FilterCache
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "config/consumerFilter.json"
CHANNEL = ChannelId(1)


class Rig:
    def __init__(self, disk: SimDisk | None = None, clock: SimClock | None = None) -> None:
        self.disk = disk or SimDisk()
        self.clock = clock or SimClock()
        self.worker = SimDiskWorker()
        self.consumers, self.filters = Consumers(), FilterCache()
        self.table = ConsumerFilterFile(
            ConfigFile(self.disk, PATH),
            self.worker,
            self.consumers,
            self.filters,
            self.clock.now().monotonic_ms,
        )

    def use(self, *expressions: str, version: int = 1, topic: str = "T") -> None:
        """The group g subscribes, the last expression counting, and pulls by each."""
        for expression in expressions:
            said = make_subscription(topic, expression, version, "SQL92")
            self.beat(said)
            self.filters.find("g", topic, expression)
            version += 1

    def beat(self, *said: Subscription) -> None:
        member = Member(CHANNEL, "c", "JAVA", 513, "10.0.0.5:1", 0, 0)
        self.consumers.beat(ConsumerBeat("g", subscriptions=said), member)

    def pass_time(self, ms: int = INTERVAL_MS) -> None:
        self.table.saving.on_tick(self.clock.advance(ms))
        self.worker.run_all()
        self.worker.collect()

    def rows(self) -> dict[str, Any]:
        """By topic and group, what the file says."""
        if not self.disk.exists(PATH):
            return {}
        table = json.loads(self.disk.read(PATH))["filterDataByTopic"]
        for topic, of_topic in table.items():
            assert of_topic["topic"] == topic
        return {
            f"{topic}@{group}": row
            for topic, of_topic in table.items()
            for group, row in of_topic["groupFilterData"].items()
        }


def test_a_filter_in_use_is_in_the_file_as_apache_writes_it() -> None:
    rig = Rig()
    rig.use("a > 1", version=7)
    rig.pass_time(INTERVAL_MS - 1)
    assert rig.rows() == {}
    rig.pass_time(1)
    assert rig.rows() == {
        "T@g": {
            "bloomFilterData": {"bitNum": 112, "bitPos": bloom_positions("g", "T")},
            "bornTime": rig.clock.now().wall_ms,
            "clientVersion": 7,
            "consumerGroup": "g",
            "dead": False,
            "deadTime": 0,
            "expression": "a > 1",
            "expressionType": "SQL92",
            "topic": "T",
        }
    }


def test_nothing_is_written_without_a_change() -> None:
    rig = Rig()
    rig.pass_time()
    assert not rig.disk.exists(PATH)
    rig.use("a > 1")
    rig.pass_time()
    rig.disk.remove(PATH)
    rig.pass_time()
    assert not rig.disk.exists(PATH)


def test_a_filter_is_born_anew_with_its_expression_and_only_then() -> None:
    rig = Rig()
    rig.use("a > 1")
    rig.pass_time()
    born = rig.rows()["T@g"]["bornTime"]
    rig.use("a > 1", version=5)
    rig.pass_time()
    row = rig.rows()["T@g"]
    assert (row["bornTime"], row["clientVersion"]) == (born, 5)
    rig.use("a > 2", version=6)
    rig.pass_time()
    row = rig.rows()["T@g"]
    assert (row["bornTime"], row["expression"]) == (rig.clock.now().wall_ms, "a > 2")


def test_only_what_the_group_says_in_heartbeats_counts() -> None:
    rig = Rig()
    rig.use("a > 1", "a > 2")
    rig.filters.find("h", "T", "a > 3")
    rig.filters.find("g", "U", "a > 3")
    rig.use("a >", topic="V")
    rig.beat(make_subscription("T", "a > 2", 9, "SQL92"), make_subscription("V", "a >", 9, "SQL92"))
    rig.pass_time()
    assert {key: row["expression"] for key, row in rig.rows().items()} == {"T@g": "a > 2"}


def test_a_filter_whose_group_is_gone_is_dead_and_forgotten_after_a_day() -> None:
    rig = Rig()
    rig.use("a > 1")
    rig.pass_time()
    rig.consumers.unregister("g", CHANNEL)
    rig.pass_time()
    died = rig.clock.now().wall_ms
    assert (rig.rows()["T@g"]["dead"], rig.rows()["T@g"]["deadTime"]) == (True, died)
    rig.pass_time(DEAD_MS_MAX - 1)
    assert rig.rows()["T@g"]["deadTime"] == died
    rig.pass_time(INTERVAL_MS)
    assert rig.rows() == {}


def test_a_group_that_comes_back_has_its_filter_again() -> None:
    rig = Rig()
    rig.use("a > 1")
    rig.pass_time()
    born = rig.rows()["T@g"]["bornTime"]
    rig.consumers.unregister("g", CHANNEL)
    rig.pass_time()
    after = Rig(rig.disk, rig.clock)
    after.pass_time()
    assert after.rows()["T@g"]["dead"] is True
    after.beat(make_subscription("T", "a > 1", 3, "SQL92"))
    after.pass_time()
    row = after.rows()["T@g"]
    assert (row["dead"], row["deadTime"], row["bornTime"]) == (False, 0, born)


def test_a_stop_writes_what_is_new() -> None:
    rig = Rig()
    rig.use("a > 1")
    rig.table.saving.close(rig.clock.now())
    assert list(rig.rows()) == ["T@g"]


def test_a_save_that_fails_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    rig.use("a > 1")
    for number in range(1, 4):
        rig.disk.faults.fail_call(number)
    rig.pass_time()
    assert "was not saved" in caplog.text
    assert rig.table.saved == {}
    rig.pass_time()
    rig.pass_time()
    assert list(rig.rows()) == ["T@g"]


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"filterDataByTopic":7}',
        b'{"filterDataByTopic":{"T":{"groupFilterData":[]}}}',
    ],
)
def test_a_file_that_cannot_be_believed_is_named(content: bytes) -> None:
    disk = SimDisk()
    disk.replace(PATH, content)
    with pytest.raises(CorruptFile, match=PATH):
        Rig(disk)


def test_a_backup_that_had_to_do_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    rig = Rig()
    rig.use("a > 1")
    rig.pass_time()
    rig.disk.replace(PATH + ".bak", rig.disk.read(PATH))
    rig.disk.replace(PATH, b"torn")
    assert list(Rig(rig.disk, rig.clock).table.saved) == [("T", "g")]
    assert "backup" in caplog.text


def test_what_does_not_fit_a_filter_is_told_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig()
    found = rig.filters.find("g", "T", "a > 1")
    assert found.filter is not None
    found.filter.matches_text(b"")
    rig.pass_time()
    assert "cannot decide" in caplog.text
