import pytest

from aerobee.errors import CorruptFile
from aerobee.model.topic import DataVersion
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from aerobee.service.broker.state.delay_offsets import (
    CopiedDelayOffsets,
    DelayOffsets,
    delay_offsets_from,
)
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "store/config/delayOffset.json"
APACHES = b"""{
	"dataVersion":{
		"counter":6,
		"stateVersion":0,
		"timestamp":1794734482075
	},
	"offsetTable":{
		1:1,
		3:4,
		18:0
	}
}"""


class Rig:
    def __init__(self, content: bytes = b"") -> None:
        self.disk = SimDisk()
        if content:
            self.disk.replace(PATH, content)
        self.worker = SimDiskWorker()
        self.open()

    def open(self) -> None:
        self.offsets = DelayOffsets(ConfigFile(self.disk, PATH), self.worker)

    def save(self, offsets: dict[int, int], wall_ms: int = 1_700_000_000_000) -> None:
        self.offsets.save(offsets, wall_ms)
        self.worker.run_all()
        self.worker.collect()


def test_apaches_file_is_read_and_written_in_its_own_form() -> None:
    rig = Rig(APACHES)
    assert rig.offsets.saved == {1: 1, 3: 4, 18: 0}
    rig.save({3: 5}, 1_800_000_000_000)
    assert rig.disk.read(PATH) == (
        APACHES.replace(b"3:4", b"3:5")
        .replace(b'r":6', b'r":7')
        .replace(b"1794734482075", b"18" + b"0" * 11)
    )


def test_quoted_levels_are_read_too() -> None:
    assert Rig(b'{"offsetTable":{"1":7}}').offsets.saved == {1: 7}


def test_without_a_file_nothing_was_delivered() -> None:
    rig = Rig()
    assert rig.offsets.saved == {}
    rig.save({2: 9})
    rig.open()
    assert rig.offsets.saved == {2: 9}


def test_levels_that_nobody_speaks_of_stay_in_the_file() -> None:
    rig = Rig(APACHES)
    rig.save({1: 2})
    rig.open()
    assert rig.offsets.saved == {1: 2, 3: 4, 18: 0}


def test_what_says_nothing_new_is_not_written() -> None:
    rig = Rig(APACHES)
    rig.offsets.save({1: 1}, 1)
    assert rig.worker.pending() == 0
    assert not rig.offsets.is_saving


def test_a_failed_save_counts_as_none_and_the_next_one_is_written() -> None:
    rig = Rig(APACHES)
    rig.disk.faults.fail_call(1)
    rig.save({1: 2})
    assert rig.offsets.saved[1] == 1
    assert not rig.offsets.is_saving
    rig.save({1: 2})
    rig.open()
    assert rig.offsets.saved[1] == 2


def test_finish_waits_for_the_save_under_way() -> None:
    rig = Rig()
    rig.offsets.save({1: 3}, 1)
    assert rig.offsets.saved == {}
    rig.offsets.finish()
    assert rig.offsets.saved == {1: 3}


def test_the_body_says_what_the_file_says() -> None:
    rig = Rig(APACHES)
    assert rig.offsets.body() == (
        b'{"dataVersion":{"counter":6,"stateVersion":0,"timestamp":1794734482075},'
        b'"offsetTable":{1:1,3:4,18:0}}'
    )


def test_the_body_of_a_slave_says_what_its_masters_file_says() -> None:
    rig = Rig(APACHES)
    copied = CopiedDelayOffsets(DataVersion(0, 9, 1), {2: 5})
    rig.offsets.took_over(copied)
    assert delay_offsets_from(Members(parse(rig.offsets.body()), "the body")) == copied


@pytest.mark.parametrize(
    "table",
    [b"{1:-1}", b'{1:"x"}', b"{0:1}", b"{1:true}", b'{"x":1}', b"[1]", b"{1:1.5}"],
)
def test_a_table_that_cannot_be_believed_is_an_error_that_names_the_file(table: bytes) -> None:
    with pytest.raises(CorruptFile) as raised:
        Rig(b'{"offsetTable":' + table + b"}")
    assert raised.value.path == PATH


def test_the_offsets_of_a_master_are_written_as_its_file_is() -> None:
    copied = delay_offsets_from(Members(parse(APACHES), "the answer"))
    assert copied.version == DataVersion(0, 6, 1794734482075)
    assert copied.offsets == {1: 1, 3: 4, 18: 0}
    assert copied.text() == APACHES
    assert Rig(copied.text()).offsets.version == copied.version
