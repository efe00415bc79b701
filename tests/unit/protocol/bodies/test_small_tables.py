import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.bodies.small_tables import (
    decode_text_table,
    decode_topic_list,
    encode_text_table,
    encode_topic_list,
)


def test_a_list_of_topics_names_a_broker_where_one_is_known() -> None:
    assert encode_topic_list(["A", "B"]) == b'{"topicList":["A","B"]}'
    assert encode_topic_list([], "h:1") == b'{"brokerAddr":"h:1","topicList":[]}'
    assert decode_topic_list(b'{"brokerAddr":"h:1","topicList":["A"]}') == ["A"]


def test_a_table_of_texts_is_read_back() -> None:
    assert encode_text_table({"k": "v"}) == b'{"table":{"k":"v"}}'
    assert decode_text_table(b'{"table":{"k":"v"}}') == {"k": "v"}
    with pytest.raises(ProtocolError):
        decode_text_table(b'{"table":{"k":1}}')
