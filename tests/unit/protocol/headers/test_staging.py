from aerobee.protocol.headers.staging import (
    PublishStagedHeader,
    StageBatchHeader,
    StagedBatchHeader,
)
from aerobee.protocol.remoting.declared_header import read_header, write_header


def test_headers_come_back_from_their_fields() -> None:
    for header in (
        StageBatchHeader("q7", 9, "Orders", 3),
        StagedBatchHeader(81505),
        PublishStagedHeader("q7", 9),
    ):
        assert read_header(type(header), write_header(header)) == header
    assert write_header(StageBatchHeader("q7", 9, "Orders", 3)) == {
        "writeId": "q7",
        "roundId": "9",
        "topic": "Orders",
        "queueId": "3",
    }
