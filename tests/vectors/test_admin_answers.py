"""Answers of Apache's brokers to tools are read, and are what they were when written again."""

from collections.abc import Callable

import pytest

from aerobee.protocol.bodies.connections import (
    decode_client_ids,
    decode_consumer_connections,
    decode_producer_connections,
    decode_producer_table,
    encode_client_ids,
    encode_consumer_connections,
    encode_producer_connections,
    encode_producer_table,
)
from aerobee.protocol.bodies.consume_stats import (
    decode_consume_stats,
    encode_consume_stats,
)
from aerobee.protocol.bodies.group_offsets import (
    decode_group_list,
    decode_reset_offsets,
    encode_group_list,
    encode_reset_offsets,
)
from aerobee.protocol.bodies.running_info import (
    decode_consume_result,
    decode_running_info,
    encode_consume_result,
)
from aerobee.protocol.bodies.stats_data import decode_stats_data, encode_stats_data
from aerobee.protocol.bodies.topic_stats import decode_topic_stats, encode_topic_stats
from aerobee.protocol.bodies.topic_table import decode_topic_config, encode_topic_config
from aerobee.protocol.text.json_text import parse
from tests.captured import captured

Again = Callable[[bytes], bytes]


def consumers(body: bytes) -> bytes:
    found = decode_consumer_connections(body)
    return encode_consumer_connections(found.connections, found.manner, found.subscriptions)


def consumed(body: bytes) -> bytes:
    found = decode_consume_result(body)
    return encode_consume_result(
        found.result, spent_ms=found.spent_ms, is_ordered=found.is_ordered, remark=found.remark
    )


AGAIN: dict[str, Again] = {
    "GET_CONSUME_STATS": lambda body: encode_consume_stats(decode_consume_stats(body)),
    "GET_TOPIC_STATS_INFO": lambda body: encode_topic_stats(*decode_topic_stats(body)[:2]),
    "GET_TOPIC_CONFIG": lambda body: encode_topic_config(decode_topic_config(body)),
    "VIEW_BROKER_STATS_DATA": lambda body: encode_stats_data(*decode_stats_data(body)),
    "GET_CONSUMER_CONNECTION_LIST": consumers,
    "GET_PRODUCER_CONNECTION_LIST": lambda body: encode_producer_connections(
        decode_producer_connections(body)
    ),
    "GET_ALL_PRODUCER_INFO": lambda body: encode_producer_table(decode_producer_table(body)),
    "GET_CONSUMER_LIST_BY_GROUP": lambda body: encode_client_ids(decode_client_ids(body)),
    "INVOKE_BROKER_TO_RESET_OFFSET": lambda body: encode_reset_offsets(decode_reset_offsets(body)),
    "QUERY_TOPIC_CONSUME_BY_WHO": lambda body: encode_group_list(decode_group_list(body)),
    "CONSUME_MESSAGE_DIRECTLY": consumed,
}


@pytest.mark.parametrize("name", AGAIN)
def test_an_answer_of_apache_survives_being_read(name: str) -> None:
    bodies = [bytes(one.body) for one in captured(name, "response") if one.code == 0 and one.body]
    assert bodies
    for body in bodies:
        assert parse(AGAIN[name](body)) == parse(body)


def test_what_a_java_consumer_says_of_itself_is_read() -> None:
    for answer in captured("GET_CONSUMER_RUNNING_INFO", "response"):
        if answer.code == 0:
            info = decode_running_info(bytes(answer.body))
            assert info.properties["PROP_CONSUME_TYPE"] == "CONSUME_PASSIVELY"
            assert info.subscriptions
            assert all(held.commit_offset >= 0 for held in info.queues.values())
            assert info.rates.keys() <= {one.topic for one in info.subscriptions}
