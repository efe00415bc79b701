import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.replying import PushReplyHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_what_apache_pushes_is_read_and_written_again() -> None:
    for push in captured("PUSH_REPLY_MESSAGE_TO_CLIENT", "request"):
        header = read_header(PushReplyHeader, push.ext_fields)
        assert header.topic.endswith("_REPLY_TOPIC")
        assert "REPLY_TO_CLIENT" in header.properties
        assert write_header(header) == push.ext_fields


def test_nothing_of_it_may_be_missing() -> None:
    (push, *_) = captured("PUSH_REPLY_MESSAGE_TO_CLIENT", "request")
    for name in push.ext_fields:
        fields = {key: text for key, text in push.ext_fields.items() if key != name}
        with pytest.raises(RemoteProtocolError, match=name):
            read_header(PushReplyHeader, fields)
