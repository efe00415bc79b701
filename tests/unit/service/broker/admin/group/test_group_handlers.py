import json
from dataclasses import replace
from typing import Any

import pytest

from aerobee.model.group import GroupConfig
from aerobee.ports.service import Reply
from aerobee.protocol.bodies.group_config import encode_group_config
from aerobee.sim.disk import SimDisk
from tests.tables_kit import GROUPS_PATH, AdminKit, TablesKit

BILLING = GroupConfig("billing", may_broadcast=False, reads_from_min=False, retries_max=3)


def make(kit: AdminKit, *groups: GroupConfig) -> None:
    for group in groups:
        assert kit.ask(200, body=encode_group_config(group)).code == 0


def listed(*groups: dict[str, object]) -> bytes:
    return json.dumps({"groupConfigList": groups}).encode()


def table_of(body: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body)
    return found


# Making and changing.


def test_a_group_is_made_on_the_disk_before_that_is_answered() -> None:
    kit = AdminKit()
    outbox = kit.send(200, body=encode_group_config(BILLING))
    kit.worker.run_all()
    assert outbox == []
    kit.worker.collect()
    (reply,) = outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 0
    assert TablesKit(kit.disk.power_cut()).groups.find("billing") == BILLING


def test_the_same_group_again_changes_nothing() -> None:
    kit = AdminKit()
    make(kit, BILLING)
    version = kit.groups.version
    make(kit, BILLING)
    assert kit.groups.version == version
    make(kit, replace(BILLING, is_enabled=False))
    assert kit.groups.find("billing") == replace(BILLING, is_enabled=False)


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ({}, "blank"),
        ({"groupName": "a b"}, "' '"),
        ({"groupName": "g" * 121}, "121 characters"),
        ({"groupName": "g", "retryQueueNums": -1}, "retryQueueNums is -1"),
        ({"groupName": "g", "retryQueueNums": 4097}, "retryQueueNums is 4097"),
    ],
)
def test_a_group_that_cannot_be_is_refused_as_invalid(group: dict[str, object], said: str) -> None:
    kit = AdminKit()
    before = kit.groups.all()
    for code, body in ((200, json.dumps(group).encode()), (225, listed({"groupName": "h"}, group))):
        answer = kit.ask(code, body=body)
        assert answer.code == 29
        assert said in answer.remark
    assert kit.groups.all() == before


def test_many_groups_are_made_at_once() -> None:
    kit = AdminKit()
    assert kit.ask(225, body=listed({"groupName": "a"}, {"groupName": "b"})).code == 0
    assert kit.groups.find("a") == GroupConfig("a")
    assert kit.groups.find("b") == GroupConfig("b")


def test_attributes_of_a_newer_broker_stay_and_others_are_refused() -> None:
    disk = SimDisk()
    disk.replace(GROUPS_PATH, b'{"subscriptionGroupTable":{"g":{"attributes":{"colour":"red"}}}}')
    kit = AdminKit(disk)
    make(kit, GroupConfig("g", retries_max=1))
    make(kit, GroupConfig("g", retries_max=2, attributes={"colour": "red"}))
    assert kit.groups.find("g") == GroupConfig("g", retries_max=2, attributes={"colour": "red"})
    refused = encode_group_config(GroupConfig("g", attributes={"+colour": "blue"}))
    answer = kit.ask(200, body=refused)
    assert (answer.code, answer.remark) == (1, "unsupported key: colour")


def test_a_priority_factor_is_set_changed_and_taken_away() -> None:
    kit = AdminKit()
    make(kit, GroupConfig("g", attributes={"+priority.factor": "50"}))
    made = kit.groups.find("g")
    assert made is not None
    assert (made.attributes, made.priority_factor) == ({"priority.factor": "50"}, 50)
    make(kit, GroupConfig("g"))
    assert kit.groups.find("g") == made
    make(kit, GroupConfig("g", attributes={"-priority.factor": ""}))
    found = kit.groups.find("g")
    assert found is not None
    assert (found.attributes, found.priority_factor) == ({}, 100)
    refused = encode_group_config(GroupConfig("g", attributes={"+priority.factor": "101"}))
    assert kit.ask(200, body=refused).code == 1


# Deleting.


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ({}, ["Orders"]),
        ({"cleanOffset": "false"}, ["Orders"]),
        ({"cleanOffset": "true"}, []),
        ({"removeOffset": "true"}, []),
    ],
)
def test_a_group_goes_and_its_offsets_if_that_is_said(
    said: dict[str, str], left: list[str]
) -> None:
    kit = AdminKit()
    make(kit, BILLING)
    kit.offsets.commit("billing", "Orders", 0, 5, 10)
    kit.offsets.commit("other", "Orders", 0, 5, 10)
    assert kit.ask(207, {"groupName": "billing", **said}).code == 0
    assert kit.offsets.topics_of("billing") == left
    assert kit.offsets.topics_of("other") == ["Orders"]
    assert TablesKit(kit.disk.power_cut()).groups.find("billing") is None


def test_a_group_that_could_not_be_saved_away_keeps_its_offsets() -> None:
    kit = AdminKit()
    make(kit, BILLING)
    kit.offsets.commit("billing", "Orders", 0, 5, 10)
    kit.disk.faults.fail_call(1)
    assert kit.ask(207, {"groupName": "billing", "cleanOffset": "true"}).code == 1
    assert kit.offsets.topics_of("billing") == ["Orders"]
    assert kit.groups.find("billing") == BILLING


def test_a_group_that_is_not_there_is_deleted_already_and_the_systems_stay() -> None:
    kit = AdminKit()
    assert kit.ask(207, {"groupName": "never"}).code == 0
    assert kit.ask(207, {"groupName": "TOOLS_CONSUMER"}).code == 29
    assert kit.groups.find("TOOLS_CONSUMER") is not None


# Asking.


def test_all_groups_are_answered_with_what_they_may_not_read() -> None:
    kit = AdminKit()
    make(kit, BILLING)
    kit.ask(353, {"group": "billing", "topic": "Orders", "readable": "false"})
    answer = kit.ask(201)
    ours = table_of(bytes(answer.body))
    assert list(ours) == ["dataVersion", "forbiddenTable", "subscriptionGroupTable"]
    assert ours["forbiddenTable"] == {"billing": {"Orders": 4}}
    assert ours["subscriptionGroupTable"]["billing"] == table_of(encode_group_config(BILLING))
    assert answer.ext_fields == {"totalGroupNum": str(len(ours["subscriptionGroupTable"]))}


def test_pages_of_groups_join_into_all_of_them() -> None:
    kit = AdminKit()
    make(kit, *(GroupConfig(f"g{number}") for number in range(12)))
    kit.ask(353, {"group": "g7", "topic": "Orders", "readable": "false"})
    whole = table_of(bytes(kit.ask(201).body))
    groups: dict[str, Any] = {}
    forbidden: dict[str, Any] = {}
    version = ""
    while True:
        fields = {"groupSeq": str(len(groups)), "maxGroupNum": "5", "dataVersion": version}
        page = table_of(bytes(kit.ask(201, fields).body))
        if not page["subscriptionGroupTable"]:
            break
        version = json.dumps(page["dataVersion"])
        groups |= page["subscriptionGroupTable"]
        assert page["forbiddenTable"].keys() <= page["subscriptionGroupTable"].keys()
        forbidden |= page["forbiddenTable"]
    assert groups == whole["subscriptionGroupTable"]
    assert forbidden == {"g7": {"Orders": 4}}


def test_one_group_is_answered_and_never_made_by_asking() -> None:
    kit = AdminKit()
    make(kit, BILLING)
    answer = kit.ask(352, {"group": "billing"})
    assert (answer.code, answer.body) == (0, encode_group_config(BILLING))
    answer = kit.ask(352, {"group": "never"})
    assert (answer.code, answer.remark) == (26, "No group in this broker")
    assert kit.groups.find("never") is None


# What is forbidden.


def test_a_topic_is_forbidden_asked_about_and_allowed_again() -> None:
    kit = AdminKit()
    asked = {"group": "billing", "topic": "Orders"}
    for said, wanted in (
        ({}, b"true"),
        ({"readable": "false"}, b"false"),
        ({}, b"false"),
        ({"readable": "true"}, b"true"),
        ({}, b"true"),
    ):
        answer = kit.ask(353, {**asked, **said})
        assert answer.code == 0
        assert answer.body == b'{"group":"billing","readable":' + wanted + b',"topic":"Orders"}'


def test_what_could_not_be_forbidden_is_answered_with_why() -> None:
    kit = AdminKit()
    make(kit, BILLING)
    kit.disk.faults.fail_call(1)
    asked = {"group": "billing", "topic": "Orders", "readable": "false"}
    assert kit.ask(353, asked).code == 1
    assert kit.groups.may_read("billing", "Orders")
    for name in ("group", "topic"):
        assert kit.ask(353, {**asked, name: "a b"}).code == 29
