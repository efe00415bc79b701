"""The source of a MariaDB: a Debian whose tools are scripts here, with a real package."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aerobee.pipeline.sandbox.mariadb_program import (
    DatabaseMissing,
    system_program,
    unpacked_program,
)
from tests.mariadb_kit import program

_CONTROL = "Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: a\n"
# Where lists are missing nothing is found before an update, which makes them in a folder of ours.
_APT_GET = """\
#!/bin/sh
echo "$*" >> "{folder}/asked"
case "$*" in
  *update*) touch "{folder}/updated"; exit 0;;
esac
if [ -e "{folder}/listless" ] && [ ! -e "{folder}/updated" ]; then
  echo "E: Unable to locate package" >&2; exit 100
fi
for name in "$@"; do
  case "$name" in download|-o*) continue;; esac
  cp "{folder}/$name.deb" . || exit 100
done
"""


def _tool(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    """A folder with the tools of a Debian that offers a server and one library."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("no Debian: no dpkg-deb")
    folder = tmp_path / "tools"
    folder.mkdir()
    files = {
        "mariadb-server-core": "usr/sbin/mariadbd",
        "libaio1": "usr/lib/x86_64-linux-gnu/libaio.so.1",
    }
    for package, path in files.items():
        root = tmp_path / package
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text(_CONTROL.format(name=package))
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text("#!/bin/sh\n")
        subprocess.run(
            ["dpkg-deb", "-b", str(root), str(folder / f"{package}.deb")],
            check=True,
            capture_output=True,
        )
    _tool(folder, "apt-get", _APT_GET.format(folder=folder))
    depends = "  Depends: mariadb-common\\n  Depends: libaio1\\n  Depends: libc6\\n"
    _tool(folder, "apt-cache", f"#!/bin/sh\nprintf '{depends}'\n")
    _tool(
        folder,
        "dpkg-query",
        '#!/bin/sh\ncase "$*" in *libc6*) echo "install ok installed";; *) exit 1;; esac\n',
    )
    return folder


def _path(folder: Path) -> str:
    return os.pathsep.join((str(folder), os.environ["PATH"]))


def test_the_packages_are_unpacked_with_the_libraries_that_the_system_lacks(
    debian: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    found = unpacked_program(tmp_path / "cache", _path(debian), said.append)
    assert found.path.exists()
    libraries = found.environment["LD_LIBRARY_PATH"]
    assert os.path.exists(os.path.join(libraries, "libaio.so.1"))
    assert len(said) == 1
    assert "libc6" not in (debian / "asked").read_text()


def test_what_is_unpacked_is_not_downloaded_again(debian: Path, tmp_path: Path) -> None:
    unpacked_program(tmp_path / "cache", _path(debian), print)
    (debian / "asked").unlink()
    unpacked_program(tmp_path / "cache", _path(debian), print)
    assert not (debian / "asked").exists()


def test_a_system_without_package_lists_gets_lists_in_a_folder_of_ours(
    debian: Path, tmp_path: Path
) -> None:
    (debian / "listless").touch()
    found = unpacked_program(tmp_path / "cache", _path(debian), print)
    assert found.path.exists()
    updates = [line for line in (debian / "asked").read_text().splitlines() if "update" in line]
    assert len(updates) == 1
    assert "-oDir::State::Lists=" + str(tmp_path) in updates[0]


def test_a_download_that_fails_leaves_nothing_and_says_what_to_do(
    debian: Path, tmp_path: Path
) -> None:
    _tool(debian, "apt-get", "#!/bin/sh\necho 'E: no network' >&2\nexit 100\n")
    with pytest.raises(DatabaseMissing, match="E: no network") as raised:
        unpacked_program(tmp_path / "cache", _path(debian), print)
    assert "mariadb-server" in raised.value.hint
    assert not (tmp_path / "cache").exists()


def test_no_debian_and_no_server_is_said(tmp_path: Path) -> None:
    with pytest.raises(DatabaseMissing, match="apt-get"):
        unpacked_program(tmp_path / "cache", str(tmp_path), print)


def test_the_systems_server_is_found_with_its_tables(tmp_path: Path) -> None:
    (tmp_path / "sbin").mkdir()
    (tmp_path / "share/mysql").mkdir(parents=True)
    _tool(tmp_path / "sbin", "mysqld", "#!/bin/sh\n")
    (tmp_path / "share/mysql/mysql_system_tables.sql").touch()
    found = system_program(str(tmp_path / "sbin"))
    assert found is not None
    assert found.path == tmp_path / "sbin/mysqld"
    assert found.is_mariadb
    assert system_program(str(tmp_path / "share")) is None


def test_here_there_is_a_server_that_says_its_version() -> None:
    found = program()
    said = subprocess.run(
        [str(found.path), "--no-defaults", "--version"],
        env={**os.environ, **found.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Ver " in said.stdout
