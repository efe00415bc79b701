import shutil
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.net.tls_config import Asked
from aerobee.net.tls_context import BadTlsFile, client_context, outgoing_context, server_context
from tests.tls_kit import certificates, server_config


def test_contexts_speak_1_2_and_1_3_and_check() -> None:
    server = server_context(server_config(), Asked.REQUIRE)
    client = client_context(certificates().authority)
    for context in (server, client, outgoing_context(server_config())):
        assert context.minimum_version is ssl.TLSVersion.TLSv1_2
        assert context.verify_mode is ssl.CERT_REQUIRED
    assert client.check_hostname
    assert server.num_tickets == 0
    assert server_context(server_config(), Asked.NONE).verify_mode is ssl.CERT_NONE


def test_versions_and_ciphers_can_be_chosen() -> None:
    config = replace(
        server_config(), protocols=("TLSv1.2",), ciphers="ECDHE-ECDSA-AES128-GCM-SHA256"
    )
    context = server_context(config, Asked.NONE)
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2
    with pytest.raises(BadTlsFile, match="tlsCiphers=NO-SUCH"):
        server_context(replace(config, ciphers="NO-SUCH"), Asked.NONE)


def test_a_certificate_of_its_own_may_be_shown_to_others() -> None:
    shown = certificates().client
    config = replace(
        server_config(),
        outgoing_certificate=shown.certificate,
        outgoing_key=shown.key,
        outgoing_authority=certificates().other_authority,
    )
    (known,) = outgoing_context(config).get_ca_certs()
    assert "Authority other" in str(known)


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    key = tmp_path / "host.key"
    shutil.copy(certificates().host.key, key)
    key.chmod(mode)
    with pytest.raises(BadTlsFile, match=f"chmod 600 {key}"):
        server_context(replace(server_config(), key=str(key)), Asked.NONE)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch(0o600)
    config = server_config()
    for wrong, words in (
        (replace(config, certificate="/nowhere"), "No such file"),
        (replace(config, certificate=str(empty)), "empty"),
        (replace(config, key="/nowhere"), "/nowhere cannot be read"),
        (replace(config, key=certificates().client.key), "the key is not the certificate's"),
    ):
        with pytest.raises(BadTlsFile, match=words):
            server_context(wrong, Asked.NONE)
    for authority in (str(empty), "/nowhere"):
        with pytest.raises(BadTlsFile, match=authority):
            client_context(authority)


def test_without_an_authority_the_systems_are_believed() -> None:
    assert client_context().verify_mode is ssl.CERT_REQUIRED
