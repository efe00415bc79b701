import pytest

from aerobee.errors import (
    CorruptFile,
    DiskFailed,
    DiskFull,
    MessageIllegal,
    StorageError,
    StoreBusy,
)
from aerobee.service.broker.log_access.store_refusals import refused_by_store


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MessageIllegal("too large"), 13),
        (StoreBusy("behind"), 2),
        (DiskFull("full"), 14),
        (DiskFailed("broken"), 14),
        (CorruptFile("odd", path="x"), 1),
    ],
)
def test_the_code_says_whether_another_try_helps(error: StorageError, code: int) -> None:
    answer = refused_by_store(error)
    assert (answer.code, answer.remark) == (code, str(error))
