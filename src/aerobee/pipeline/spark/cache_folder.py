"""Folders of caches that are made once: whole, or not at all.

Several processes may want the same one at the same time. Each makes its own beside it, and the
first that is done gives it the name; the others take that one.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_folder(home: Path, fill: Callable[[Path], None]) -> Path:
    """The folder, filled by `fill` unless it is there. OSError: it cannot be made."""
    if home.exists():
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix="making-", dir=home.parent))
    try:
        fill(making)
        making.rename(home)
    except OSError:
        shutil.rmtree(making)
        if not home.exists():  # else somebody else made it meanwhile
            raise
    return home
