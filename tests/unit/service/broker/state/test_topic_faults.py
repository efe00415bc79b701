from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.state.topic_faults import find_config_fault, is_system

CONFIG = TopicConfig("T", 4, 4)


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        (CONFIG, None),
        (replace(CONFIG, name="a/b"), "a/b"),
        (replace(CONFIG, name="TBW102"), "conflict with system topic"),
        (replace(CONFIG, read_queues=-1), "readQueueNums is -1"),
        (replace(CONFIG, write_queues=4097), "writeQueueNums is 4097"),
        (replace(CONFIG, permission=8), "perm is 8"),
        (replace(CONFIG, filter_type="X"), "topicFilterType is 'X'"),
        (replace(CONFIG, attributes={"+message.type": "MIXED"}), "MIXED"),
    ],
)
def test_a_topic_has_a_legal_name_numbers_in_bounds_and_a_known_type(
    config: TopicConfig, fault: str | None
) -> None:
    found = find_config_fault(config, BrokerIdentity())
    assert found == fault if fault is None else found is not None and fault in found


def test_topics_named_after_the_broker_and_its_cluster_are_its_own() -> None:
    identity = BrokerIdentity(name="b", cluster="c")
    assert [is_system(name, identity) for name in ("b", "c", "d")] == [True, True, False]
