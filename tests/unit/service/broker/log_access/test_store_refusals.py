import pytest

from aerobee.errors import (
    CorruptFile,
    DiskFailed,
    DiskFull,
    MessageIllegal,
    NothingTaken,
    StorageError,
    StoreBusy,
)
from aerobee.service.broker.log_access.store_refusals import message_too_large, refused_by_store


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MessageIllegal("too large"), 13),
        (StoreBusy("behind"), 2),
        (DiskFull("full"), 14),
        (NothingTaken("too few replicas"), 14),
        (DiskFailed("broken"), 14),
        (CorruptFile("odd", path="x"), 1),
    ],
)
def test_the_code_says_whether_another_try_helps(error: StorageError, code: int) -> None:
    answer = refused_by_store(error)
    assert (answer.code, answer.remark) == (code, str(error))


def test_what_is_too_large_is_refused_as_apache_5_5_0_refuses_it() -> None:
    answer = message_too_large(4_194_304)
    assert answer.code == 13
    assert answer.remark == (
        "the message is illegal, maybe msg body or properties length not matched. "
        "msg body length limit 4194304B, msg properties length limit 32KB."
    )
