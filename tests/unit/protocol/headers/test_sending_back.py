import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.headers.sending_back import SendBackHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_what_consumers_wrote_is_read_and_written_back_whole() -> None:
    for command in captured("CONSUMER_SEND_MSG_BACK", "request"):
        header = read_header(SendBackHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
        assert header.group.startswith("cg-ret-")
        assert (header.delay_level, header.max_reconsume_times) == (0, 2)
        assert header.unit_mode is False


def test_what_is_not_said_is_left_to_the_broker() -> None:
    header = read_header(SendBackHeader, {"offset": "7", "group": "g"})
    assert (header.delay_level, header.max_reconsume_times, header.origin_topic) == (0, None, None)


@pytest.mark.parametrize("fields", [{"offset": "7"}, {"group": "g"}, {"offset": "x", "group": "g"}])
def test_without_an_offset_and_a_group_there_is_nothing_to_send_back(
    fields: dict[str, str],
) -> None:
    with pytest.raises(RemoteProtocolError):
        read_header(SendBackHeader, fields)
