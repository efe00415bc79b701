import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_what_producers_wrote_is_read_and_written_back_whole() -> None:
    for command in captured("RECALL_MESSAGE", "request"):
        header = read_header(RecallHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert (header.broker_name, header.producer_group) == ("broker-a", "pg-timer")


@pytest.mark.parametrize("fields", [{"topic": "a"}, {"recallHandle": "a"}, {}])
def test_without_a_topic_and_a_handle_there_is_nothing_to_recall(fields: dict[str, str]) -> None:
    with pytest.raises(RemoteProtocolError):
        read_header(RecallHeader, fields)
