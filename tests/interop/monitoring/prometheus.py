"""A real Prometheus: of the system, or from Debian's package, unpacked under build/."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.interop.features.waiting import until

BUILD = Path(__file__).parent.parent.parent.parent / "build/interop/prometheus"
START_SECONDS_MAX = 60
_CONFIG = """\
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: aerobee
    static_configs:
      - targets: ["127.0.0.1:{port}"]
"""


def find_program() -> str | None:
    """None: there is none, and none can be had here."""
    found = shutil.which("prometheus")
    if found is not None:
        return found
    program = BUILD / "usr/bin/prometheus"
    if not program.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        try:
            _run(["apt-get", "download", "prometheus"])
            for package in BUILD.glob("*.deb"):
                _run(["dpkg-deb", "-x", package.name, "."])
        except (OSError, subprocess.CalledProcessError):
            return None
    return str(program)


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, cwd=BUILD, check=True, capture_output=True)


class Prometheus:
    """Looks at one port every second."""

    def __init__(self, program: str, folder: Path, target: int, port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "prometheus.yml"
        config.write_text(_CONFIG.format(port=target))
        self._port = port
        with (folder / "prometheus.err").open("wb") as errors:
            self._process = subprocess.Popen(
                [
                    program,
                    f"--config.file={config}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=errors,
                stderr=errors,
            )

    def __enter__(self) -> Self:
        until(self._is_ready, START_SECONDS_MAX, "Prometheus starts")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, "Prometheus ended"
        try:
            with urlopen(f"http://127.0.0.1:{self._port}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples that an expression is now; an HTTPError if it is none."""
        text = urlencode({"query": expression})
        with urlopen(f"http://127.0.0.1:{self._port}/api/v1/query?{text}", timeout=30) as answer:
            said = json.load(answer)
        assert said["status"] == "success", said
        found: list[dict[str, Any]] = said["data"]["result"]
        return found
