import pytest

from aerobee.errors import CorruptFile
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_config import topic_config_from, topic_config_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_pretty
from aerobee.service.broker.state.versioned_table import (
    CopiedTable,
    Form,
    VersionedRow,
    VersionedTable,
    copied_table,
    load_table,
)
from aerobee.sim.disk import SimDisk
from aerobee.storage.metadata.config_file import ConfigFile

PATH = "config/topics.json"
FORM = Form("topicConfigTable", topic_config_from, topic_config_json)
ORDERS = TopicConfig("Orders", 4, 4)
FILE_WITH_MORE = write_pretty(
    {
        "dataVersion": {"counter": 7, "stateVersion": 0, "timestamp": 100},
        "owner": "us",
        "topicConfigTable": {
            name: dict(topic_config_json(TopicConfig(name, 4, 4)))
            for name in ("Orders", "Gone", "System")
        },
    }
)
BILLS = TopicConfig("Bills", 2, 2, attributes={"message.type": "FIFO"})


def table_of(*configs: TopicConfig) -> VersionedTable[TopicConfig]:
    return VersionedTable(
        FORM, DataVersion(0, 7, 100), {config.name: VersionedRow(config) for config in configs}
    )


def loaded(content: bytes) -> VersionedTable[TopicConfig]:
    disk = SimDisk()
    disk.replace(PATH, content)
    return load_table(ConfigFile(disk, PATH), FORM, 0).table


@pytest.mark.parametrize("configs", [(), (ORDERS,), (ORDERS, BILLS)])
def test_the_text_of_a_table_is_what_its_whole_would_be_written_as(
    configs: tuple[TopicConfig, ...],
) -> None:
    assert table_of(*configs).text() == write_pretty(
        {
            "dataVersion": {"counter": 7, "stateVersion": 0, "timestamp": 100},
            "topicConfigTable": {config.name: topic_config_json(config) for config in configs},
        }
    )


def test_a_change_makes_another_table_and_the_next_version() -> None:
    before = table_of(ORDERS)
    after = before.changed({"Bills": BILLS}, 200)
    assert (after.find("Bills"), after.find("Orders")) == (BILLS, ORDERS)
    assert (after.version, after.news) == (DataVersion(0, 8, 200), ("Bills",))
    assert (before.find("Bills"), before.version) == (None, DataVersion(0, 7, 100))


def test_rows_that_stay_are_shared() -> None:
    before = table_of(ORDERS)
    assert before.changed({"Bills": BILLS}, 200).rows["Orders"] is before.rows["Orders"]


def test_a_changed_row_is_written_as_it_is_now() -> None:
    before = table_of(ORDERS)
    assert b'"readQueueNums":4' in before.text()
    after = before.changed({"Orders": TopicConfig("Orders", 5, 5)}, 200)
    assert b'"readQueueNums":5' in after.text()
    assert b'"readQueueNums":4' not in after.text()


def test_what_changes_nothing_is_the_same_table() -> None:
    table = table_of(ORDERS)
    assert table.changed({"Orders": TopicConfig("Orders", 4, 4), "Bills": None}, 200) is table


def test_a_row_that_goes_is_gone() -> None:
    after = table_of(ORDERS, BILLS).changed({"Orders": None}, 200)
    assert (list(after.rows), after.news) == (["Bills"], ("Orders",))


STRANGE = b"""{
	"dataVersion":{
		"counter":7,
		"stateVersion":0,
		"timestamp":100
	},
	"newThing":[
		1
	],
	"topicConfigTable":{
		"Orders":{
			"attributes":{},
			"order":false,
			"perm":6,
			"readQueueNums":4,
			"topicFilterType":"SINGLE_TAG",
			"topicName":"Orders",
			"topicSysFlag":0,
			"writeQueueNums":4,
			"colour":"red"
		}
	}
}"""


def test_what_nobody_knows_is_written_again_and_outlives_a_change() -> None:
    table = loaded(STRANGE)
    assert table.find("Orders") == ORDERS
    assert table.text() == STRANGE
    text = table.changed({"Orders": TopicConfig("Orders", 5, 5)}, 200).text()
    assert b'"colour":"red"' in text
    assert b'"newThing":[' in text
    assert b'"readQueueNums":5' in text
    beside = parse(table.with_rest("other", {}, 1).text())
    assert isinstance(beside, dict)
    assert list(beside) == ["dataVersion", "newThing", "other", "topicConfigTable"]
    assert beside["dataVersion"] == {"counter": 8, "stateVersion": 0, "timestamp": 1}


def test_without_a_file_the_table_is_new() -> None:
    new = load_table(ConfigFile(SimDisk(), PATH), FORM, 123)
    assert (new.table.rows, new.table.version, new.fault) == ({}, DataVersion(0, 0, 123), "")


@pytest.mark.parametrize(
    "content",
    [b"{", b'{"topicConfigTable":[]}', b'{"topicConfigTable":{"T":{"perm":"x"}}}', b"{0:1}"],
)
def test_a_file_that_cannot_be_believed_is_an_error_that_names_it(content: bytes) -> None:
    with pytest.raises(CorruptFile, match=PATH):
        loaded(content)


def test_a_masters_table_is_taken_over_with_its_version_and_unknown_members() -> None:
    table = loaded(FILE_WITH_MORE)
    rows: dict[str, Value] = {
        "Orders": topic_config_json(ORDERS),
        "Bills": {**topic_config_json(BILLS), "colour": "red"},
    }
    body: dict[str, Value] = {
        "dataVersion": {"counter": 2, "stateVersion": 0, "timestamp": 5},
        "topicConfigTable": rows,
        "mappingDataVersion": {},
    }
    copied = copied_table(Members(parse(write_pretty(body)), "an answer"), FORM)
    taken = table.taken_over(copied, ["System", "Never"])
    assert taken.version == DataVersion(0, 2, 5)
    assert list(taken.rows) == ["System", "Orders", "Bills"]
    assert taken.rows["Orders"] is table.rows["Orders"], "its text need not be made again"
    assert b'"colour":"red"' in taken.text()
    assert taken.rest == table.rest
    assert sorted(taken.news) == ["Bills", "Gone"]


def test_other_members_of_the_file_are_replaced_where_the_master_has_some() -> None:
    copied = CopiedTable[TopicConfig](DataVersion(0, 9, 9), {})
    taken = loaded(FILE_WITH_MORE).taken_over(copied, [], {"owner": "them"})
    assert (taken.rows, taken.rest) == ({}, {"owner": "them"})
