from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.pipeline.arrow.unpacked_rows import unpacked_rows
from aerobee.protocol.message.compression import compress
from tests.unit.pipeline.arrow.test_message_columns import record


def test_a_compressed_body_is_expanded() -> None:
    body = compress(b"x" * 500, CompressionType.ZLIB)
    flag = with_compression_type(0, CompressionType.ZLIB)
    (row,) = unpacked_rows(record(7, body, sys_flag=flag))
    assert row.value == b"x" * 500
    assert (row.offset, row.queue_id, row.topic) == (7, 3, b"t")
    assert (row.key, row.tags, row.message_id) == (b"k1 k2", b"a", b"id-7")
    (bare,) = unpacked_rows(record(8, body, sys_flag=flag, properties={}))
    assert (bare.key, bare.tags, bare.properties) == (None, None, b"")
