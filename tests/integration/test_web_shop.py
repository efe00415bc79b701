"""The FastAPI example under uvicorn and uvloop: what is ordered is billed, and a signal ends it."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from aerobee.testing.thread_cluster import ThreadCluster
from tests.process_kit import SECONDS_MAX

pytest.importorskip("fastapi", reason="the example needs fastapi: pip install aerobee[test]")
pytest.importorskip("uvicorn", reason="the example needs uvicorn: pip install aerobee[test]")

ROOT = Path(__file__).resolve().parents[2]


def asked(port: int, path: str, *, is_post: bool = False) -> object:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", method="POST" if is_post else "GET"
    )
    with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
        return json.load(answer)


def test_what_is_ordered_over_the_web_is_billed() -> None:
    with ThreadCluster() as cluster, socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "examples.web_shop:web", "--loop", "uvloop",
             "--fd", str(listening.fileno())],
            cwd=ROOT,
            env={**os.environ, "AEROBEE_NAMESRV": cluster.address},
            pass_fds=(listening.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        try:
            sent = [asked(port, f"/orders?number={number}", is_post=True) for number in range(3)]
            assert all(isinstance(one, dict) and one["message_id"] for one in sent)
            while len(billed := asked(port, "/billed")) < 3:  # type: ignore[arg-type]
                pass
            assert sorted(billed) == [0, 1, 2]  # type: ignore[call-overload]
        finally:
            server.send_signal(signal.SIGTERM)
            _, said = server.communicate(timeout=SECONDS_MAX)
        assert "Application shutdown complete" in said
        assert "Traceback" not in said
        progress = cluster.client.admin.groups.progress("billing", topic="orders")
        assert progress.lag == 0
