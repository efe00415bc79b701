"""SourceWatch detects changes of an application's source.

Only Python files count, and none below a folder whose name begins with a dot or that tools make: a
virtual environment has more files than an application.
"""

import os
from collections.abc import Iterator

_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})


class SourceWatch:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seen = self._look()

    def changed(self) -> list[str]:
        """Return the files that were changed, made or deleted since the last call."""
        before, now = self._seen, self._look()
        self._seen = now
        return sorted(
            path for path in before.keys() | now.keys() if before.get(path) != now.get(path)
        )

    def _look(self) -> dict[str, tuple[int, int]]:
        found = {}
        for path in self._paths():
            try:
                status = os.stat(path)
            except FileNotFoundError:  # deleted meanwhile
                continue
            found[path] = (status.st_mtime_ns, status.st_size)
        return found

    def _paths(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self._folder):
            folders[:] = [
                one for one in folders if not one.startswith(".") and one not in _PASSED_OVER
            ]
            for name in names:
                if name.endswith(".py"):
                    yield os.path.join(folder, name)
