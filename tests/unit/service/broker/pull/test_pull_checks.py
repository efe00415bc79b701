from dataclasses import replace

import pytest

from aerobee.model.group import GroupConfig
from aerobee.model.subscription import Subscription
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.headers.pulling import PullHeader
from aerobee.protocol.message.tag_filter import EXPRESSION_CHARS_MAX, TAGS_MAX
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.pull.held_pulls import PullPlan
from aerobee.service.broker.pull.pull_checks import PullChecks
from aerobee.service.request import Answer
from tests.consumer_kit import ConsumerKit

PULL = PullHeader("g", "Orders", 1, 7, 32, sys_flag=4)
FROM_HEARTBEAT = replace(PULL, sys_flag=0, subscription="", sub_version=5)


class Rig(ConsumerKit):
    """The checks, over real tables with the topic Orders of two queues. Tag A has the code 65."""

    def __init__(self, config: BrokerConfig | None = None) -> None:
        super().__init__(config)
        self.checks = PullChecks(
            self.topics, self.groups, self.consumers, self.config, self.choices
        )

    def plan(self, header: PullHeader = PULL) -> PullPlan:
        plan = self.checks.plan(header, self.clock.now())
        assert isinstance(plan, PullPlan)
        return plan

    def refusal(self, header: PullHeader = PULL) -> Answer:
        answer = self.checks.plan(header, self.clock.now())
        assert isinstance(answer, Answer)
        assert answer.remark
        return answer

    def put_group(self, group: GroupConfig) -> None:
        self.groups.put([group], self.clock.now(), self.told.append)
        self.finish()


def test_a_plan_says_what_to_read() -> None:
    assert Rig().plan() == PullPlan((b"Orders", 1), 7, 32, None, 0, 0, "g")


def test_flags_of_topic_and_group_are_in_the_plan() -> None:
    rig = Rig()
    rig.make_topic(TopicConfig("Orders", 2, 2, sys_flag=3))
    rig.put_group(GroupConfig("g", sys_flag=1))
    plan = rig.plan()
    assert (plan.topic_sys_flag, plan.group_sys_flag) == (3, 1)


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (256, 256), (257, 256), (0, 1), (-7, 1)])
def test_a_count_is_bounded(asked: int, given: int) -> None:
    assert Rig().plan(replace(PULL, max_msg_nums=asked)).count_max == given


def test_a_broker_without_read_permission_is_asked_by_nobody() -> None:
    answer = Rig(BrokerConfig(permission=2)).refusal(replace(PULL, topic="None"))
    assert (answer.code, answer.fields) == (16, {"forbiddenType": "1"})


def test_a_group_is_made_where_groups_may_be_made() -> None:
    rig = Rig()
    rig.plan(replace(PULL, consumer_group="new"))
    assert rig.groups.find("new") is not None
    rig = Rig(BrokerConfig(creates_groups=False))
    assert rig.refusal(replace(PULL, topic="None")).code == 26
    rig.put_group(GroupConfig("g"))
    rig.plan()


def test_a_group_whose_name_is_none_does_not_exist() -> None:
    for name in ("", "a b", "x" * 121):
        assert Rig().refusal(replace(PULL, consumer_group=name)).code == 26


def test_a_group_that_is_switched_off_reads_nothing() -> None:
    rig = Rig()
    rig.put_group(GroupConfig("g", is_enabled=False))
    answer = rig.refusal(replace(PULL, topic="None"))
    assert (answer.code, answer.fields) == (16, {"forbiddenType": "2"})


def test_an_unknown_topic_does_not_exist() -> None:
    assert Rig().refusal(replace(PULL, topic="None", queue_id=99)).code == 17


def test_a_topic_without_read_permission_is_not_read() -> None:
    rig = Rig()
    rig.make_topic(TopicConfig("Orders", 2, 2, permission=2))
    answer = rig.refusal(replace(PULL, queue_id=99))
    assert (answer.code, answer.fields) == (16, {"forbiddenType": "3"})
    assert answer.remark == "the topic[Orders] pulling message is forbidden"


@pytest.mark.parametrize("queue_id", [-1, 2, 2**31 - 1])
def test_a_queue_that_is_not_there_is_illegal(queue_id: int) -> None:
    answer = Rig().refusal(replace(FROM_HEARTBEAT, queue_id=queue_id))
    assert answer.code == 29
    assert answer.remark.startswith(f"queueId[{queue_id}] is illegal")


def test_only_queues_that_are_read_count() -> None:
    rig = Rig()
    rig.make_topic(TopicConfig("Orders", 1, 8))
    assert rig.refusal().code == 29


def test_a_filter_that_comes_along_counts_and_the_heartbeat_does_not() -> None:
    rig = Rig()
    rig.beat("a", subscriptions=[make_subscription("Orders", "X", 1)])
    plan = rig.plan(replace(PULL, subscription="A || B"))
    assert plan.tag_codes == frozenset({65, 66})
    for everything in ("*", ""):
        assert rig.plan(replace(PULL, subscription=everything)).tag_codes is None


@pytest.mark.parametrize("kind", ["SQL92", "sql", "tag"])
def test_a_filter_of_another_kind_is_refused(kind: str) -> None:
    rig = Rig(BrokerConfig(allows_sql=False))
    answer = rig.refusal(replace(PULL, expression_type=kind, subscription="a > 1"))
    assert (answer.code, kind in answer.remark) == (1, True)


def by_sql(expression: str) -> PullHeader:
    return replace(PULL, expression_type="SQL92", subscription=expression)


def sql(expression: str, version: int = 5, topic: str = "Orders") -> Subscription:
    return make_subscription(topic, expression, version, "SQL92")


def test_an_expression_that_comes_along_is_the_filter() -> None:
    rig = Rig()
    plan = rig.plan(by_sql("a > 1"))
    assert plan.tag_codes is None
    assert plan.chosen is not None
    assert plan.chosen.matches_text(b"a\x012\x02")
    assert rig.plan(by_sql("a > 1")).chosen is plan.chosen, "compiled once"


@pytest.mark.parametrize("expression", ["a >", "", "*", "TagA || TagB"])
def test_a_wrong_expression_is_refused_wherever_it_comes_from(expression: str) -> None:
    rig = Rig()
    answer = rig.refusal(by_sql(expression))
    assert (answer.code, "group g for topic Orders" in answer.remark) == (23, True)
    rig.beat("a", subscriptions=[sql(expression)])
    if expression:
        assert rig.refusal(FROM_HEARTBEAT) == answer


def test_the_heartbeats_expression_is_the_filter_and_never_an_older_one() -> None:
    rig = Rig()
    rig.beat("a", subscriptions=[sql("a = 1")])
    chosen = rig.plan(FROM_HEARTBEAT).chosen
    assert chosen is not None
    assert chosen.expression == "a = 1"
    assert rig.plan(replace(FROM_HEARTBEAT, sub_version=0, expression_type="TAG")).chosen is chosen
    assert rig.refusal(replace(FROM_HEARTBEAT, sub_version=6)).code == 25


def test_an_expression_that_sql_is_not_allowed_for_is_refused_from_a_heartbeat_too() -> None:
    rig = Rig(BrokerConfig(allows_sql=False))
    rig.beat("a", subscriptions=[sql("a = 1")])
    assert rig.refusal(FROM_HEARTBEAT).code == 1


def test_a_retry_topic_is_not_filtered_by_sql() -> None:
    rig = Rig()
    rig.make_topic(TopicConfig("%RETRY%g", 1, 1))
    plan = rig.plan(replace(by_sql("a = 1"), topic="%RETRY%g", queue_id=0))
    assert (plan.tag_codes, plan.chosen) == (None, None)


def test_without_a_heartbeat_there_is_no_subscription() -> None:
    rig = Rig()
    assert rig.refusal(FROM_HEARTBEAT).code == 24
    rig.beat("a", subscriptions=[make_subscription("Other", "*", 9)])
    assert rig.refusal(FROM_HEARTBEAT).code == 24


@pytest.mark.parametrize(
    ("beaten", "is_filtered"), [(5, True), (6, True), (4, False)], ids=["same", "newer", "older"]
)
def test_the_heartbeats_filter_counts_unless_it_is_older_than_the_pull(
    beaten: int, is_filtered: bool
) -> None:
    rig = Rig()
    rig.beat("a", subscriptions=[make_subscription("Orders", "A", beaten)])
    expected = frozenset({65}) if is_filtered else None
    assert rig.plan(FROM_HEARTBEAT).tag_codes == expected


def test_a_client_that_does_not_say_a_version_is_filtered_by_the_heartbeat() -> None:
    rig = Rig()
    rig.beat("a", subscriptions=[make_subscription("Orders", "A", 5)])
    pull = replace(FROM_HEARTBEAT, sub_version=0, expression_type="TAG")
    assert rig.plan(pull).tag_codes == frozenset({65})


def test_an_expression_that_is_too_long_is_refused() -> None:
    rig = Rig()
    refused = rig.refusal(replace(PULL, subscription="a" * (EXPRESSION_CHARS_MAX + 1)))
    assert (refused.code, "field subscription" in refused.remark) == (23, True)
    assert rig.refusal(replace(PULL, subscription="||a" * TAGS_MAX)).code == 23
    assert rig.plan(replace(PULL, subscription="a||" * (TAGS_MAX - 1))).tag_codes is not None
