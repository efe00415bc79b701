import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli_kit import aerobee_here
from tests.server_kit import Server


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Contexts of one's own."""
    before = os.environ.get("AEROBEE_CONFIG")
    os.environ["AEROBEE_CONFIG"] = str(tmp_path / "contexts.json")
    yield tmp_path
    if before is None:
        del os.environ["AEROBEE_CONFIG"]
    else:
        os.environ["AEROBEE_CONFIG"] = before


def test_a_cluster_with_a_name_is_used_by_name(home: Path, server: Server) -> None:
    assert aerobee_here("context", "add", "here", server.name_server, "--use").status == 0
    assert aerobee_here("context", "add", "away", "rmq://k:secret@127.0.0.1:1").status == 0
    assert aerobee_here("cluster", "list").status == 0
    assert aerobee_here("cluster", "list", "--context", "away").status == 1
    listed = aerobee_here("context", "list", "-o", "json")
    assert listed.records == [
        {"name": "away", "target": "rmq://k:***@127.0.0.1:1", "is_used": False},
        {"name": "here", "target": server.name_server, "is_used": True},
    ]
    assert "secret" not in aerobee_here("context", "use", "away").out
    assert aerobee_here("cluster", "list").status == 1
    assert aerobee_here("context", "use").status == 0
    assert json.loads((home / "contexts.json").read_text())["current"] == ""


def test_an_address_with_a_secret_is_read_from_standard_input(home: Path) -> None:
    target = "rmq://k:k-secret@127.0.0.1:1"
    said = aerobee_here("context", "add", "prod", "-", stdin=f"{target}\n")
    assert said.status == 0
    assert "k-secret" not in said.out + said.error
    assert "warning" not in said.error
    assert json.loads((home / "contexts.json").read_text())["contexts"]["prod"] == target


@pytest.mark.parametrize("stdin", ["", "\n", "ftp://x\n"])
def test_standard_input_without_an_address_makes_no_context(home: Path, stdin: str) -> None:
    said = aerobee_here("context", "add", "prod", "-", stdin=stdin)
    assert said.status != 0
    assert not (home / "contexts.json").exists()


def test_a_name_is_forgotten_with_care(home: Path) -> None:
    aerobee_here("context", "add", "dev", "a:1", "--use")
    assert "would forget dev, a:1" in aerobee_here("context", "remove", "dev", "--dry-run").out
    assert aerobee_here("context", "remove", "dev", stdin="").status == 2
    assert aerobee_here("context", "remove", "dev", "--yes").status == 0
    assert "no context in" in aerobee_here("context", "list").out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("add", "bad", "host:port:what"), 1),
        (("add", "bad", "ftp://x"), 1),
        (("use", "nobody"), 3),
        (("remove", "nobody", "--yes"), 3),
        (("add", "bad"), 2),
    ],
)
def test_what_cannot_be_is_said(home: Path, words: tuple[str, ...], status: int) -> None:
    assert aerobee_here("context", *words).status == status
    assert not (home / "contexts.json").exists()


def test_a_name_is_not_taken_from_another_cluster_by_accident(home: Path) -> None:
    aerobee_here("context", "add", "dev", "a:1")
    assert aerobee_here("context", "add", "dev", "b:1").status == 1
    assert aerobee_here("context", "add", "dev", "b:1", "--replace").status == 0
    assert aerobee_here("context", "list", "-o", "json").records[0]["target"] == "b:1"
