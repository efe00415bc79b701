from dataclasses import replace

from aerobee.client.admin.groups import GroupProgress
from aerobee.console.api.group_rows import (
    config_row,
    connection_row,
    member_rows,
    mismatch_rows,
    queue_rows,
    running_row,
    subscription_row,
)
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.connections import Connection
from aerobee.protocol.bodies.consume_stats import ConsumeProgress
from aerobee.protocol.bodies.running_info import QueueInHand, RunningInfo, TopicRates

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
OTHER = MessageQueue("orders", "broker-a", QueueId(1))
CLIENT = Connection("c1", "10.0.0.1:5", "JAVA", 513, 0)
INFO = RunningInfo(
    {"a": "b"},
    {
        QUEUE: QueueInHand(1, 1, 2, 1, 10, False, 7),
        OTHER: QueueInHand(1, 1, 2, 1, 10, False, 7, is_dropped=True),
    },
    (Subscription("orders", "a || b"),),
    rates={"orders": TopicRates(consume_ms=1.5, consumed_a_second=10.0, failed_a_second=0.5)},
)


def test_a_queue_has_the_owner_that_holds_it_and_how_far_it_is_behind() -> None:
    queues = {QUEUE: ConsumeProgress(10, 4, 6, 1_000), OTHER: ConsumeProgress(5, 5, 5, 1_000)}
    behind, done = queue_rows(GroupProgress("g", queues, 0.0), {"c1": INFO, "c2": None}, 5_000)
    assert (behind["owner"], behind["lag"], behind["in_flight"]) == ("c1", 6, 2)
    assert behind["behind_ms"] == 4_000
    assert (done["owner"], done["lag"], done["behind_ms"]) == (None, 0, 0)


def test_a_member_that_says_nothing_has_no_figures() -> None:
    told, silent = member_rows([CLIENT, CLIENT._replace(client_id="c2")], {"c1": INFO, "c2": None})
    assert (told["queues"], told["consume_ms"], told["ok"], told["failed"]) == (1, 1.5, 10.0, 0.5)
    assert (silent["queues"], silent["ok"]) == (None, None)
    ours = replace(INFO, properties={"PROP_CLIENT_VERSION": "AEROBEE"})
    (counts_nothing,) = member_rows([CLIENT], {"c1": ours})
    assert (counts_nothing["queues"], counts_nothing["consume_ms"]) == (1, None)
    assert connection_row(CLIENT)["version"] == "V5_5_0"


def test_what_a_member_reports_and_what_members_disagree_on_are_rows() -> None:
    told = running_row("c1", INFO)
    assert [one["queue"] for one in told["queues"]] == [0, 1]
    assert told["stacks"] is None
    assert subscription_row(INFO.subscriptions[0])["expression"] == "a || b"
    assert mismatch_rows({"orders": {"a": ("c1",)}}) == [
        {"topic": "orders", "said": [{"expression": "a", "clients": ["c1"]}]}
    ]
    assert config_row("broker-a", GroupConfig("g"))["retry_max"] == 16
