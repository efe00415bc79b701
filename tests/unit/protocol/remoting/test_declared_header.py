from dataclasses import dataclass

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.remoting.declared_header import Int32, Int64, NoHeader, on_wire, read_header
from aerobee.protocol.remoting.declared_header import write_header as write


@dataclass(frozen=True, slots=True)
class Sample:
    consumer_group: str
    queue_id: Int32
    commit_offset: Int64 = -1
    is_force: bool = on_wire("isForce", default=False)
    topic: str | None = None
    timestamp: Int64 | None = None


FULL = {
    "consumerGroup": "g",
    "queueId": "3",
    "commitOffset": "9223372036854775807",
    "isForce": "true",
    "topic": "T",
    "timestamp": "-5",
}


def test_every_field_is_read_by_its_name_on_the_wire() -> None:
    assert read_header(Sample, FULL) == Sample("g", 3, 2**63 - 1, True, "T", -5)


def test_what_is_written_is_read_again() -> None:
    for header in (Sample("g", 3, 2**63 - 1, True, "T", -5), Sample("", -1)):
        assert read_header(Sample, write(header)) == header
    assert write(Sample("g", 3, 2**63 - 1, True, "T", -5)) == FULL


def test_what_is_absent_has_its_default_and_an_empty_number_is_absent() -> None:
    fields = {"consumerGroup": "", "queueId": "0", "commitOffset": "", "timestamp": ""}
    assert read_header(Sample, fields) == Sample("", 0)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"queueId": "1"}, "consumerGroup is missing"),
        ({"consumerGroup": "g"}, "queueId is missing"),
        ({"consumerGroup": "g", "queueId": ""}, "queueId is missing"),
        ({"consumerGroup": "g", "queueId": "2147483648"}, "queueId is no number"),
        ({"consumerGroup": "g", "queueId": " 1"}, "queueId is no number"),
        ({"consumerGroup": "g", "queueId": "1", "commitOffset": "1e3"}, "commitOffset is no"),
    ],
)
def test_an_error_names_the_field_as_the_peer_wrote_it(fields: dict[str, str], says: str) -> None:
    with pytest.raises(RemoteProtocolError, match=says):
        read_header(Sample, fields)


def test_a_request_may_have_no_fields_that_matter() -> None:
    assert read_header(NoHeader, {"anything": "x"}) == NoHeader()
