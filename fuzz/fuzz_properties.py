"""Any bytes are properties: finding one agrees with reading all, writing all with reading."""

from aerobee.errors import LocalProtocolError
from aerobee.model.properties import decode_properties, encode_properties, find_property


def check(data: bytes) -> None:
    """Any bytes are properties: finding one agrees with reading all."""
    properties = decode_properties(data)
    is_text = _is_utf8(data)
    for name, value in properties.items():
        assert name
        assert value
        if is_text:
            assert find_property(data, name.encode()) == value.encode()
    for tried in (b"TAGS", data[:3], data[-3:]):
        found = find_property(data, tried)
        if is_text and _is_utf8(tried):
            assert (found is None) == (tried.decode() not in properties)
    try:
        text = encode_properties(properties)
    except LocalProtocolError:
        return  # a value with a separator in it
    assert decode_properties(text) == properties


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
