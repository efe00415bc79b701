import logging

import pytest

from aerobee.service.broker.transaction.given_up_topic import GivenUpTopic
from tests.tables_kit import TablesKit
from tests.transaction_kit import GIVEN_UP


def test_the_topic_is_made_when_it_is_needed_and_only_once() -> None:
    kit = TablesKit()
    topic = GivenUpTopic(kit.topics)
    assert kit.topics.find(GIVEN_UP) is None
    assert not topic.is_there(kit.clock.now())
    assert not topic.is_there(kit.clock.now())
    assert kit.worker.pending() == 1
    kit.finish()
    assert topic.is_there(kit.clock.now())
    made = TablesKit(kit.disk.power_cut()).topics.find(GIVEN_UP)
    assert made is not None
    assert (made.read_queues, made.write_queues, made.permission) == (1, 1, 6)


def test_a_topic_that_could_not_be_made_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    kit = TablesKit(topics_max=1)
    topic = GivenUpTopic(kit.topics)
    with caplog.at_level(logging.ERROR):
        assert not topic.is_there(kit.clock.now())
        kit.finish()
    assert "was not made" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        assert not topic.is_there(kit.clock.now())
        kit.finish()
    assert "was not made" in caplog.text
