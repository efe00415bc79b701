import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.topics import AllTopicsHeader, CreateTopicHeader
from aerobee.protocol.remoting.declared_header import read_header
from tests.captured import captured


def test_topics_that_real_clients_make_are_read() -> None:
    fields = [one.ext_fields for one in captured("UPDATE_AND_CREATE_TOPIC", "request")]
    assert len(fields) == 3
    for said in fields:
        header = read_header(CreateTopicHeader, said)
        assert header.topic == said["topic"]
        assert header.read_queue_nums == int(said["readQueueNums"])
        assert header.write_queue_nums == int(said["writeQueueNums"])
        assert (header.perm, header.topic_filter_type) == (6, "SINGLE_TAG")
        assert (header.order, header.topic_sys_flag, header.attributes) == (False, 0, "")


def test_what_a_topic_must_say_is_how_it_is_called_and_how_wide_it_is() -> None:
    fields = {"topic": "T", "readQueueNums": "4", "writeQueueNums": "2", "perm": "6"}
    assert read_header(CreateTopicHeader, fields) == CreateTopicHeader("T", 4, 2, 6)
    for name in fields:
        with pytest.raises(RemoteProtocolError, match=name):
            read_header(CreateTopicHeader, {key: fields[key] for key in fields if key != name})


def test_a_page_is_what_newer_clients_ask_for() -> None:
    (asked,) = captured("GET_ALL_TOPIC_CONFIG", "request")
    assert read_header(AllTopicsHeader, asked.ext_fields) == AllTopicsHeader(0, "", 2000)
    assert read_header(AllTopicsHeader, {}) == AllTopicsHeader(None, None, None)
