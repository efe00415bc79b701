"""Any bytes are a header or ProtocolError, compiled and interpreted alike, and written back.

Written back means: to the same bytes, but for a language without a number. A header that is too
large is not written back: some of it was passed over.
"""

from importlib import import_module

from aerobee.protocol.remoting.command_header import LANGUAGES
from tests.pure import pure
from tests.wire import Wire

_compiled = Wire(import_module)
_interpreted = Wire(pure)


def check(data: bytes) -> None:
    """Any bytes are a header or ProtocolError, compiled and interpreted alike."""
    expected = _interpreted.header(_interpreted.header_binary.decode_binary_header, data)
    assert _compiled.header(_compiled.header_binary.decode_binary_header, data) == expected
    if expected is None or "excess" in expected or len(expected["remark"].encode()) > 32768:
        return
    written = _interpreted.header_binary.encode_binary_header(_interpreted.command(expected))
    assert _compiled.header_binary.encode_binary_header(_compiled.command(expected)) == written
    number = bytes([LANGUAGES.index(expected["language"])])
    assert written == data[:2] + number + data[3:]
    as_json = _compiled.header_json.encode_json_header(_compiled.command(expected))
    by_json = _compiled.header(_compiled.header_json.decode_json_header, as_json)
    assert by_json == expected | {"serialize_type": 0}
