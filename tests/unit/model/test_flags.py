import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model import flags
from aerobee.model.flags import CompressionType, Permission, TransactionType


@pytest.mark.parametrize(
    ("sys_flag", "kind"),
    [
        (0x0, TransactionType.NONE),
        (0x4, TransactionType.PREPARED),
        (0x8, TransactionType.COMMIT),
        (0xC, TransactionType.ROLLBACK),
        (0x303 | 0x8, TransactionType.COMMIT),
    ],
)
def test_the_transaction_type_is_bits_2_and_3(sys_flag: int, kind: TransactionType) -> None:
    assert flags.transaction_type(sys_flag) is kind


def test_changing_the_transaction_type_leaves_every_other_bit() -> None:
    assert flags.with_transaction_type(0x7F7, TransactionType.COMMIT) == 0x7FB
    assert flags.with_transaction_type(0x7FF, TransactionType.NONE) == 0x7F3


@pytest.mark.parametrize(
    ("sys_flag", "kind"),
    [
        (0x000, None),
        (0x300, None),  # a type without the flag means nothing
        (0x001, CompressionType.ZLIB),  # clients older than the type bits
        (0x101, CompressionType.LZ4),
        (0x201, CompressionType.ZSTD),
        (0x301, CompressionType.ZLIB),
        (0x3F3, CompressionType.ZLIB),
    ],
)
def test_the_compression_type_counts_only_beside_the_flag(
    sys_flag: int, kind: CompressionType | None
) -> None:
    assert flags.compression_type(sys_flag) is kind


@pytest.mark.parametrize("sys_flag", [0x401, 0x501, 0x601, 0x701])
def test_a_compression_type_that_nobody_knows_is_refused(sys_flag: int) -> None:
    with pytest.raises(RemoteProtocolError, match="compression type"):
        flags.compression_type(sys_flag)


def test_marking_a_body_as_compressed_replaces_the_type() -> None:
    assert flags.with_compression_type(0x340, CompressionType.LZ4) == 0x141


def test_an_inner_batch_needs_both_of_its_flags() -> None:
    assert flags.is_inner_batch(0xC0)
    assert not flags.is_inner_batch(0x40)
    assert not flags.is_inner_batch(0x80)


def test_permission_6_is_read_and_write_and_7_a_template_as_well() -> None:
    assert Permission.READ | Permission.WRITE == 6
    assert flags.is_readable(6)
    assert flags.is_writable(6)
    assert not flags.is_inherited(6)
    assert flags.is_inherited(7)
    assert not flags.is_readable(2)
    assert not flags.is_writable(4)
