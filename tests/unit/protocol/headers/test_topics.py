import json
from pathlib import Path

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.declared_header import read_header
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.headers.topics import AllTopicsHeader, CreateTopicHeader
from aerobee.protocol.remoting_command import decode

FRAMES = Path(__file__).parents[3] / "vectors" / "frames.jsonl"


def captured(name: str) -> list[dict[str, str]]:
    """The fields of the requests of a name that real clients sent."""
    found = []
    for line in FRAMES.read_text(encoding="utf-8").splitlines():
        vector = json.loads(line)
        if vector["name"] == name and vector["kind"] == "request":
            frames = FrameReader()
            frames.receive(bytes.fromhex(vector["frame"]))
            assert frames.advance()
            found.append(dict(decode(frames).ext_fields))
    return found


def test_topics_that_real_clients_make_are_read() -> None:
    fields = captured("UPDATE_AND_CREATE_TOPIC")
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
    (said,) = captured("GET_ALL_TOPIC_CONFIG")
    assert read_header(AllTopicsHeader, said) == AllTopicsHeader(0, "", 2000)
    assert read_header(AllTopicsHeader, {}) == AllTopicsHeader(None, None, None)
