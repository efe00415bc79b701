import subprocess
import sys
from importlib.metadata import version

import pytest

import aerobee


def test_importing_the_package_loads_no_event_loop() -> None:
    code = "import sys, aerobee; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_is_there_and_no_other() -> None:
    for name in aerobee._PUBLIC:
        assert getattr(aerobee, name).__name__ == name
        assert name in dir(aerobee)
    with pytest.raises(AttributeError, match="conect"):
        _ = aerobee.conect  # type: ignore[attr-defined]


def test_the_version_is_the_installed_packages() -> None:
    assert aerobee.__version__ == version("aerobee")
