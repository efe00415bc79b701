"""Cache folders that are made once: complete, or not at all.

Several processes may need the same folder at the same time. Each fills its own beside it, and the
first that is done renames it; the others use that one.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_folder(home: Path, fill: Callable[[Path], None]) -> Path:
    """Return the folder, filled by `fill` unless it exists. OSError: it cannot be made."""
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
