from aerobee.client.admin.admin import Admin
from aerobee.client.admin.fan_out import FanOut
from aerobee.client.core.known_table import KnownTable, TableQuestion
from aerobee.model.group import GroupConfig
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_table import decode_topic_table
from aerobee.protocol.headers.topics import AllTopicsHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.testing import Cluster
from tests.admin_kit import with_admin


def test_a_table_that_has_not_changed_is_the_known_one() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        first = await admin.topics.tables({})
        again = await admin.topics.tables(first)
        assert again["broker-a"] is first["broker-a"]
        await admin.topics.create("payments", queues=1)
        third = await admin.topics.tables(again)
        new = {one.name for one in third["broker-a"].rows}
        assert new - {one.name for one in first["broker-a"].rows} == {"payments"}
        groups = await admin.groups.tables({})
        assert (await admin.groups.tables(groups))["broker-a"] is groups["broker-a"]
        await admin.groups.put(GroupConfig("billing"))
        told = await admin.groups.tables(groups)
        assert "billing" in {one.name for one in told["broker-a"].rows}

    with_admin(test)


def test_an_answer_of_who_knows_no_pages_is_the_whole_table() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        code = RequestCode.GET_ALL_TOPIC_CONFIG
        # The field that tells of pages has another name: as if there was none.
        question = TableQuestion(code, AllTopicsHeader, "no such field", decode_topic_table)
        fan_out: FanOut = admin.topics._fan_out
        known = KnownTable[TopicConfig](DataVersion(counter=-1), [])
        address = (await fan_out.masters())["broker-a"]
        found = await question.ask(fan_out.broker, address, known)
        assert found.version != known.version
        assert len(found.rows) == 1

    with_admin(test)
