"""Any bytes are a value or BadJson; a value is written so that it is read back the same.

What strict JSON accepts within the limits, this accepts with the same meaning.
"""

import json

from aerobee.protocol.text.json_text import BadJson, parse, write_compact, write_pretty


def check(data: bytes) -> None:
    """Any bytes are a value or BadJson; a value is written so that it is read back the same."""
    try:
        value = parse(data)
    except BadJson:
        return
    assert parse(write_compact(value)) == value
    assert parse(write_pretty(value)) == value
    try:
        plain = json.loads(data)
    except ValueError:
        return  # a bare integer or an object as a key
    assert plain == value
