"""The choice of tables, and of topics."""

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.capture.table_schema import TableName
from aerobee.pipeline.capture.tables import TablePatterns, TopicNames, matching, topic_name


def test_patterns_choose_and_leave_out() -> None:
    patterns = TablePatterns(["shop.*,!shop.tmp_*", "crm.customers"])
    names = [
        TableName(*name.split("."))
        for name in ("shop.a", "shop.tmp_a", "crm.customers", "crm.x", "mysql.user", "Shop.a")
    ]
    assert [str(name) for name in matching(patterns, names)] == ["crm.customers", "shop.a"]
    assert str(patterns) == "shop.*,crm.customers,!shop.tmp_*"


def test_what_belongs_to_the_server_is_never_captured() -> None:
    assert not TablePatterns(["*.*"]).has(TableName("mysql", "user"))
    assert TablePatterns(["*.*"]).has(TableName("shop", "user"))


@pytest.mark.parametrize("said", ["shop", "", "!shop.a", "a.b.c", "shop."])
def test_a_pattern_that_means_nothing_is_refused(said: str) -> None:
    with pytest.raises(Misuse) as raised:
        TablePatterns([said])
    assert "shop.*" in raised.value.hint


def test_a_topic_is_called_like_its_table() -> None:
    topics = TopicNames("cdc-")
    assert topics.of(TableName("shop", "order lines")) == "cdc-shop-order_lines"
    assert topics.of(TableName("shop", "order lines")) == "cdc-shop-order_lines"
    assert not topics.is_shared


def test_two_tables_do_not_meet_in_a_topic_by_accident() -> None:
    topics = TopicNames()
    topics.of(TableName("a", "b-c"))
    with pytest.raises(Misuse, match=r"a\.b-c has it"):
        topics.of(TableName("a-b", "c"))
    with pytest.raises(Misuse, match="too long"):
        topics.of(TableName("a", "x" * 200))


def test_one_topic_takes_all() -> None:
    topics = TopicNames(topic="changes")
    assert topics.is_shared
    assert topics.of(TableName("a", "b-c")) == topics.of(TableName("a-b", "c")) == "changes"


def test_a_name_that_no_topic_can_have_is_refused() -> None:
    with pytest.raises(Misuse, match="--topic-prefix"):
        TopicNames("cdc.")
    assert topic_name("a.b c") == "a_b_c"
