"""Finder of a Chromium: the system's, or Debian's packages unpacked in a cache folder.

    cache/usr/lib/chromium                  the browser without windows, unpacked
    cache/usr/lib/**/*.so*                  the libraries that the system lacks
    cache/usr/share/fonts                   letters, Chinese ones too

The system is not changed and no rights are needed: packages are downloaded (a hundred megabytes)
and unpacked, not installed. An existing cache folder is complete: it is filled under another name
and then renamed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tools.locked import ROOT

CACHE = ROOT / "build" / "cache" / "chromium"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell")
PACKAGES = ("chromium-headless-shell", "fonts-dejavu-core", "fonts-inter", "fonts-wqy-microhei")
DOWNLOAD_SECONDS_MAX = 300
_HINT = "install chromium, or run this on a Debian that reaches its package server"
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>{cache}</cachedir>
</fontconfig>
"""


class BrowserMissing(Exception):
    """No browser is installed, and none can be downloaded."""


@dataclass(frozen=True)
class Program:
    path: str
    environment: dict[str, str] = field(default_factory=dict)


def find_program(cache: Path = CACHE) -> Program:
    """The system's browser, or one unpacked into `cache`. BrowserMissing."""
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            return Program(found)
    return unpacked_program(cache)


def unpacked_program(cache: Path) -> Program:
    """Debian's browser, downloaded at the first call. BrowserMissing."""
    cache = cache.resolve()
    program = cache / "usr/lib/chromium/chromium-headless-shell"
    if not program.exists():
        print("Chromium: none on this system; unpacking Debian's packages", file=sys.__stderr__)
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent) as name:
            folder = Path(name)
            try:
                _fill(folder, cache)
            except (OSError, subprocess.SubprocessError) as error:
                said = getattr(error, "stderr", None) or str(error)
                raise BrowserMissing(f"no Chromium: {said.strip()[-400:]}; {_HINT}") from error
            try:
                (folder / "root").rename(cache)
            except OSError:  # another process was faster, and its folder is as good
                if not program.exists():
                    raise
    libraries = sorted({str(library.parent) for library in (cache / "usr/lib").rglob("*.so*")})
    return Program(
        str(program),
        {
            "LD_LIBRARY_PATH": os.pathsep.join(libraries),
            "FONTCONFIG_FILE": str(cache / "fonts.conf"),
        },
    )


def _fill(folder: Path, cache: Path) -> None:
    """Unpack the packages and what they need and the system lacks into `folder`/root."""
    options = ["-oDebug::NoLocking=true"]
    try:
        _fetch(folder, options)
    except subprocess.CalledProcessError:
        # No lists, as in a fresh container, or so old that what they name has gone: our own.
        apt = folder / "apt"
        (apt / "lists" / "partial").mkdir(parents=True)
        options += [f"-oDir::State::Lists={apt / 'lists'}", f"-oDir::Cache={apt}"]
        _run(folder, "apt-get", *options, "update")
        _fetch(folder, options)
    root = folder / "root"
    root.mkdir()
    for package in sorted(folder.glob("*.deb")):
        _run(folder, "dpkg-deb", "-x", package.name, str(root))
    fonts = _FONTS.format(fonts=cache / "usr/share/fonts", cache=cache / "font-cache")
    (root / "fonts.conf").write_text(fonts, "utf-8")


def _fetch(folder: Path, options: list[str]) -> None:
    wanted = _run(
        folder,
        *("apt-get", *options, "install", "--print-uris", "--yes", "--reinstall"),
        *("--no-install-recommends", *PACKAGES),
    )
    files = [line.split()[1] for line in wanted.splitlines() if line.startswith("'")]
    names = sorted({name.split("_")[0] for name in files})
    _run(folder, "apt-get", *options, "download", *names)


def _run(folder: Path, *command: str) -> str:
    return subprocess.run(
        command,
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=DOWNLOAD_SECONDS_MAX,
    ).stdout


if __name__ == "__main__":
    try:
        print(find_program().path)
    except BrowserMissing as error:
        sys.exit(str(error))
