"""Finder of a MariaDB server: the system's, or Debian's packages unpacked in a cache folder.

    cache/usr/sbin/mariadbd      the server, unpacked
    cache/usr/share/mysql        its messages and the tables it begins with
    cache/**/*-linux-gnu         the libraries that the system lacks

The system is not changed and no rights are needed: packages are downloaded and unpacked, not
installed. An existing cache folder is complete: it is filled under another name and then renamed.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from aerobee.errors import AerobeeError

PACKAGES = ("mariadb-server-core", "mariadb-server-core-10.6")
PROGRAMS = ("mariadbd", "mysqld")
DOWNLOAD_SECONDS_MAX = 300
# Debian has servers where only an administrator's path leads.
_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/libexec", "/usr/local/sbin")
_HINT = "install mariadb-server, or run this on a Debian that reaches its package server"

Say = Callable[[str], None]


class DatabaseMissing(AerobeeError):
    """No database server is installed, and none can be downloaded."""


@dataclass(frozen=True, slots=True)
class Program:
    """A database server's program, its shared files and the environment that it needs."""

    path: Path
    share: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def is_mariadb(self) -> bool:
        return (self.share / "mysql_system_tables.sql").exists() or "maria" in self.path.name


def find_program(cache: Path, say: Say = print) -> Program:
    """Return the system's server, or one unpacked into `cache`. DatabaseMissing."""
    folders = os.environ.get("PATH", os.defpath)
    system = system_program(os.pathsep.join((folders, *_SYSTEM_FOLDERS)))
    return system or unpacked_program(cache, folders, say)


def system_program(path: str) -> Program | None:
    """Return a server in one of these folders; None: there is none."""
    for name in PROGRAMS:
        found = shutil.which(name, path=path)
        if found is not None:
            real = Path(found).resolve()
            shares = (real.parent.parent / "share" / kind for kind in ("mysql", "mariadb"))
            return Program(real, next((share for share in shares if share.exists()), real.parent))
    return None


def unpacked_program(cache: Path, path: str, say: Say = print) -> Program:
    """Return Debian's server, downloaded at the first call with the tools in `path`.
    DatabaseMissing."""
    cache = cache.resolve()
    if not (cache / "usr/sbin/mariadbd").exists():
        say("MariaDB: none on this system; unpacking Debian's packages into the cache")
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent) as name:
            folder = Path(name)
            try:
                _Downloading(folder, path).fill(folder / "root")
            except FileNotFoundError as error:
                raise DatabaseMissing(f"there is no {error.filename} here", hint=_HINT) from error
            except subprocess.CalledProcessError as error:
                said = (error.stderr or "").strip().splitlines()[-1:] or ["no reason given"]
                raise DatabaseMissing(
                    f"{error.cmd[0]} ended with {error.returncode}: {said[0]}", hint=_HINT
                ) from error
            _move(folder, cache)
    libraries = sorted({str(folder) for folder in cache.rglob("*-linux-gnu")})
    return Program(
        cache / "usr/sbin/mariadbd",
        cache / "usr/share/mysql",
        {"LD_LIBRARY_PATH": os.pathsep.join(libraries)},
    )


def _move(folder: Path, cache: Path) -> None:
    """Rename a folder; if another process was faster, its folder is as good."""
    made = folder / "root"
    shutil.rmtree(cache, ignore_errors=True)
    try:
        made.rename(cache)
    except OSError:
        if not cache.exists():
            raise


class _Downloading:
    """Downloads packages, in a folder of its own."""

    def __init__(self, folder: Path, path: str) -> None:
        self._folder = folder
        self._path = path
        self._options: list[str] = []

    def fill(self, root: Path) -> None:
        """Unpack the server and the libraries it lacks. CalledProcessError, FileNotFoundError."""
        try:
            self._fetch()
        except subprocess.CalledProcessError:
            # No lists, as in a fresh container, or so old that what they name has gone: our own.
            apt = self._folder / "apt"
            (apt / "lists" / "partial").mkdir(parents=True)
            self._options = [f"-oDir::State::Lists={apt / 'lists'}", f"-oDir::Cache={apt}"]
            self._run("apt-get", *self._options, "update")
            self._fetch()
        root.mkdir()
        for package in sorted(self._folder.glob("*.deb")):
            self._run("dpkg-deb", "-x", package.name, str(root))

    def _fetch(self) -> None:
        """Download the server, and those of its libraries that are not installed."""
        package = self._fetch_server()
        said = self._run("apt-cache", *self._options, "depends", package)
        needed = [line.split()[-1] for line in said.splitlines() if "Depends: lib" in line]
        missing = [name for name in needed if not self._is_installed(name)]
        if missing:
            self._run("apt-get", *self._options, "download", *missing)

    def _fetch_server(self) -> str:
        for package in PACKAGES[:-1]:
            try:
                self._run("apt-get", *self._options, "download", package)
            except subprocess.CalledProcessError:
                continue
            return package
        self._run("apt-get", *self._options, "download", PACKAGES[-1])
        return PACKAGES[-1]

    def _is_installed(self, package: str) -> bool:
        try:
            said = self._run("dpkg-query", "-W", "-f", "${Status}", package)
        except subprocess.CalledProcessError:
            return False
        return "ok installed" in said

    def _run(self, *command: str) -> str:
        return subprocess.run(
            command,
            cwd=self._folder,
            env={**os.environ, "PATH": self._path},
            check=True,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_SECONDS_MAX,
        ).stdout
