from aerobee.protocol.headers.clients import (
    ConsumerGroupHeader,
    HeartbeatAnswerHeader,
    ProducerGroupHeader,
    UnregisterHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_a_captured_goodbye_says_who_leaves_what() -> None:
    for command in captured("UNREGISTER_CLIENT", "request"):
        header = read_header(UnregisterHeader, command.ext_fields)
        assert header.client_id
        assert bool(header.producer_group) != bool(header.consumer_group)


def test_a_captured_heartbeat_answer_is_written_as_it_was() -> None:
    for answer in captured("HEART_BEAT", "response"):
        assert write_header(HeartbeatAnswerHeader(True, True)) == answer.ext_fields


def test_the_captured_news_of_a_group_is_written_as_it_was() -> None:
    for news in captured("NOTIFY_CONSUMER_IDS_CHANGED", "oneway"):
        header = read_header(ConsumerGroupHeader, news.ext_fields)
        assert write_header(header) == news.ext_fields


def test_producers_are_asked_for_by_their_group() -> None:
    (command,) = captured("GET_PRODUCER_CONNECTION_LIST", "request")
    header = read_header(ProducerGroupHeader, command.ext_fields)
    assert write_header(header) == command.ext_fields
