"""The errors that mean that there is no room, and those of a disk that is broken."""

import errno

import pytest

from aerobee.storage.files.lack_of_room import is_out_of_handles, is_out_of_room


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_and_a_used_up_quota_are_lack_of_room(code: int) -> None:
    assert is_out_of_room(OSError(code, "no room"))


@pytest.mark.parametrize(
    "error", [None, OSError(errno.EIO, "broken"), OSError("no number"), ValueError(errno.ENOSPC)]
)
def test_nothing_else_is(error: Exception | None) -> None:
    assert not is_out_of_room(error)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_too_much_open_is_neither_lack_of_room_nor_a_broken_disk(code: int) -> None:
    assert is_out_of_handles(OSError(code, "too much"))
    assert not is_out_of_room(OSError(code, "too much"))


@pytest.mark.parametrize(
    "error", [None, OSError(errno.EIO, "broken"), OSError("no number"), ValueError(errno.EMFILE)]
)
def test_a_broken_disk_is_not_too_much_open(error: Exception | None) -> None:
    assert not is_out_of_handles(error)
