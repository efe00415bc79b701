import os
import stat
from pathlib import Path

import pytest

from aerobee.app.authority import Authority
from aerobee.errors import Misuse
from aerobee.protocol.text.certificate import read_certificates


def test_keys_are_for_their_owner_and_nothing_half_made_is_left(tmp_path: Path) -> None:
    authority = Authority(str(tmp_path / "tls"))
    authority.make("Ours")
    certificate, key = authority.issue("a.example", ["a.example", "10.0.0.1", "[::1]"])
    for path in (key, authority.key):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert Path(path).read_text().startswith("-----BEGIN PRIVATE KEY-----")  # PKCS#8
    (read,) = read_certificates(Path(certificate).read_text())
    assert read.hosts == ("a.example", "10.0.0.1", "::1")
    assert sorted(os.listdir(authority.folder)) == [
        *("a.example.crt", "a.example.key", "ca.crt", "ca.key"),
    ]


def test_a_second_authority_in_one_folder_is_refused(tmp_path: Path) -> None:
    authority = Authority(str(tmp_path))
    authority.make()
    before = Path(authority.key).read_bytes()
    with pytest.raises(Misuse, match="already"):
        authority.make()
    assert Path(authority.key).read_bytes() == before


@pytest.mark.parametrize("name", ["", "../x", "a/b", "ca", "-x", "a\nb"])
def test_a_name_that_would_be_another_file_is_refused(tmp_path: Path, name: str) -> None:
    authority = Authority(str(tmp_path))
    authority.make()
    with pytest.raises(Misuse, match="no name"):
        authority.issue(name)


@pytest.mark.parametrize("host", ["a b", "x,IP:1.2.3.4", "a\nDNS:b"])
def test_a_host_that_is_none_is_refused(tmp_path: Path, host: str) -> None:
    authority = Authority(str(tmp_path))
    authority.make()
    with pytest.raises(Misuse, match="is no host"):
        authority.issue("a", [host])


def test_without_an_authority_nothing_is_issued(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="aerobee tls init"):
        Authority(str(tmp_path)).issue("a")
    with pytest.raises(Misuse, match="no name for an authority"):
        Authority(str(tmp_path)).make("a\nb")


def test_without_openssl_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="apt install openssl"):
        Authority(str(tmp_path), openssl="no-such-openssl").make()


def test_a_failure_of_openssl_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="ecparam failed"):
        Authority(str(tmp_path), openssl="false").make()
