import pytest

from aerobee.errors import ProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.broker_state import (
    BODY_BYTES_MAX,
    BrokerVersions,
    decode_broker_versions,
    encode_broker_versions,
)

VERSIONS = BrokerVersions(DataVersion(1, 7, 100), DataVersion(0, 3, 200), 1_700_000_000_000)


def test_versions_come_back_from_their_json() -> None:
    body = encode_broker_versions(VERSIONS)
    assert body == (
        b'{"bootTimestamp":1700000000000,'
        b'"groupsVersion":{"counter":3,"stateVersion":0,"timestamp":200},'
        b'"topicsVersion":{"counter":7,"stateVersion":1,"timestamp":100}}'
    )
    assert decode_broker_versions(body) == VERSIONS


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"bootTimestamp":1,"topicsVersion":7}', b" " * BODY_BYTES_MAX]
)
def test_what_has_no_versions_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_broker_versions(body + b" ")
