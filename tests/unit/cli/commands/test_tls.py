import os
from pathlib import Path

import pytest

from tests.cli_kit import aerobee_here
from tests.tls_kit import certificates


def test_an_authority_and_its_first_host_are_made_in_one_command(tmp_path: Path) -> None:
    folder = tmp_path / "tls"
    said = aerobee_here("tls", "init", "--dir", str(folder), "--host", "localhost")
    assert said.status == 0
    assert "keep it away from servers" in said.out
    issued = aerobee_here("tls", "issue", "shop", "--dir", str(folder), "--days", "10")
    assert "names no host" in issued.out
    assert sorted(os.listdir(folder)) == [
        *("ca.crt", "ca.key", "localhost.crt", "localhost.key", "shop.crt", "shop.key")
    ]
    files = sorted(map(str, folder.glob("*.crt")))
    shown = aerobee_here("tls", "show", *files, "-o", "json").records
    assert [(one["subject"], one["hosts"], one["is_authority"]) for one in shown] == [
        ("Aerobee cluster", "", True),
        ("localhost", "localhost", False),
        ("shop", "", False),
    ]
    assert shown[2]["days_left"] == 9


def test_an_expired_certificate_is_shown_with_a_status() -> None:
    assert aerobee_here("tls", "show", certificates().expired.certificate).status == 4
    assert aerobee_here("tls", "show", certificates().host.key).status != 0


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("host", ""),
        ("expired", "has expired"),
        ("stranger", "authority that is not known"),
        ("client", "names no host"),
    ],
)
def test_files_are_tried_as_a_client_and_a_server_would(pair: str, words: str) -> None:
    made = certificates()
    shown = getattr(made, pair)
    said = aerobee_here(
        *("tls", "check", "--cert", shown.certificate, "--key", shown.key, "--ca", made.authority)
    )
    assert said.status == (4 if words else 0)
    assert words in said.error
    assert ("TLSv1.3" in said.out) == (not words)


def test_what_cannot_be_checked_is_wrong_use() -> None:
    assert aerobee_here("tls", "check").status == 2
    assert aerobee_here("tls", "check", "localhost:1", "--cert", "x").status == 2
    assert aerobee_here("tls", "check", "localhost").status == 2
    gone = aerobee_here("tls", "check", "localhost:1")
    assert gone.status == 4
    assert aerobee_here("tls", "issue", "x", "--days", "0", "--dir", "/nowhere").status == 2
