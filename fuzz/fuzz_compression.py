"""Any bytes under any flag expand within the bound or are refused with RemoteProtocolError."""

from aerobee.errors import RemoteProtocolError
from aerobee.model.flags import CompressionType, compression_type
from aerobee.protocol.message.compression import compress, decompress

_BYTES_MAX = 65536


def check(data: bytes) -> None:
    """Any bytes under any flag expand within the bound or are refused with RemoteProtocolError."""
    body = data[1:]
    sys_flag = int.from_bytes(data[:1], "big") << 8 | 0x1
    try:
        expanded = decompress(body, sys_flag, bytes_max=_BYTES_MAX)
    except RemoteProtocolError:
        pass
    else:
        kind = compression_type(sys_flag)
        assert kind is not None
        assert len(expanded) <= _BYTES_MAX
        assert decompress(compress(expanded, kind), sys_flag, bytes_max=_BYTES_MAX) == expanded
    for kind in CompressionType:
        assert decompress(compress(data, kind), kind | 0x1, bytes_max=len(data)) == data
