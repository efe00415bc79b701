"""The data folder of `aerobee up`: a named one, which is kept, or a temporary one.

A temporary folder is removed at the stop, also after an error; only a process that is killed leaves
it behind.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

FOLDER = "data"


@dataclass(frozen=True, slots=True)
class DataFolder:
    path: str
    """The whole path."""
    is_temporary: bool

    @property
    def shown(self) -> str:
        """The path for output: relative if it is below the current folder."""
        return shown_path(self.path)


@contextmanager
def data_folder(named: str | None, *, is_temporary: bool) -> Iterator[DataFolder]:
    if not is_temporary:
        yield DataFolder(os.path.abspath(named or FOLDER), False)
        return
    path = tempfile.mkdtemp(prefix="aerobee-")
    try:
        yield DataFolder(path, True)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def shown_path(path: str) -> str:
    """Return `./data`, or the whole path if it is not below the current folder."""
    inside = os.path.relpath(path)
    return path if inside.startswith(os.pardir) else os.path.join(os.curdir, inside)
