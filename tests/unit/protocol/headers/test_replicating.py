from aerobee.protocol.headers.replicating import NO_CRC, CopiedStateHeader, CopyStateHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header


def test_headers_come_back_from_their_fields() -> None:
    for header in (CopyStateHeader("stagedRounds.json", 1 << 20, 7), CopiedStateHeader(3, 2**32)):
        assert read_header(type(header), write_header(header)) == header
    assert write_header(CopyStateHeader("x", 5, 7)) == {
        "name": "x",
        "position": "5",
        "knownCrc": "7",
    }


def test_without_fields_only_the_versions_are_asked_for() -> None:
    assert read_header(CopyStateHeader, {}) == CopyStateHeader("", 0, NO_CRC)
