"""Any bytes are a header or ProtocolError, by all three readers alike; a header is written back.

A header that is too large is not written back: some of it was passed over.

The readers: the scanner compiled, the scanner interpreted, and the standard library's parser.
"""

import json
from importlib import import_module

from tests.pure import pure
from tests.wire import Wire

_compiled = Wire(import_module)
_interpreted = Wire(pure)


def check(data: bytes) -> None:
    """Any bytes are a header or ProtocolError, by all three readers alike."""
    expected = _interpreted.header(_interpreted.json_scan.scan_json_header, data)
    assert _interpreted.header(_interpreted.header_json.parse_json_header, data) == expected
    assert _compiled.header(_compiled.json_scan.scan_json_header, data) == expected
    if expected is None or "excess" in expected:
        return
    json.loads(data)
    written = _interpreted.header_json.encode_json_header(_interpreted.command(expected))
    assert _compiled.header_json.encode_json_header(_compiled.command(expected)) == written
    assert _compiled.header(_compiled.header_json.decode_json_header, written) == expected
