"""Any text is a message id of both kinds, written as it was read, or RemoteProtocolError."""

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_id import parse_offset_message_id, parse_unique_id


def check(data: bytes) -> None:
    """Any text is a message id of both kinds or RemoteProtocolError."""
    # As the text it is, and as the digits of as many bytes as an id has.
    for text in (data.decode("utf-8", "replace"), data[:16].hex(), data[:28].hex()):
        try:
            offset_id = parse_offset_message_id(text)
        except RemoteProtocolError:
            assert len(text) not in (32, 56) or not _is_hex(text)
            continue
        assert str(offset_id) == text.upper()
        assert str(parse_unique_id(text)) == text.upper()


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdefABCDEF" for character in text)
