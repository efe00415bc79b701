from aerobee.protocol.headers.controller import ControllerMetadataHeader, ReplicaInfoAnswerHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header


def test_fields_have_the_names_of_rocketmq() -> None:
    told = ControllerMetadataHeader("g", "n0", "h:1", True, "n0:h:1;")
    assert write_header(told) == {
        "group": "g",
        "controllerLeaderId": "n0",
        "controllerLeaderAddress": "h:1",
        "isLeader": "true",
        "peers": "n0:h:1;",
    }
    assert read_header(ControllerMetadataHeader, write_header(told)) == told
    fields = write_header(ReplicaInfoAnswerHeader(1, "h:1", 3))
    assert list(fields) == ["masterBrokerId", "masterAddress", "masterEpoch"]
