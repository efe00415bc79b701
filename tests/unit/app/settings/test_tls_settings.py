from pathlib import Path

import pytest

from aerobee.app.settings import broker_settings, nameserver_settings
from aerobee.app.settings.config import BadConfig, Given
from aerobee.app.settings.tls_settings import given_in_tls_file, with_our_names
from aerobee.net.tls_config import Asked, TlsMode

TEXT = """\
tls.server.mode=enforcing
tls.server.certPath=/x/a.crt
tls.server.keyPath=/x/a.key
tls.server.trustCertPath=/x/ca.crt
tls.server.need.client.auth=require
"""


def test_a_name_of_rocketmq_is_ours_and_others_stay() -> None:
    said = [Given("tls.server.mode", "x", "here"), Given("brokerName", "y", "there")]
    assert with_our_names(said) == [Given("tlsMode", "x", "here"), said[1]]


def test_both_servers_read_rocketmqs_names_from_their_own_file(tmp_path: Path) -> None:
    file = tmp_path / "a.conf"
    file.write_text(TEXT)
    for read in (broker_settings.read_settings, nameserver_settings.read_settings):
        tls = read(str(file), {}, []).tls
        assert (tls.mode, tls.asks_clients) == (TlsMode.ENFORCING, Asked.REQUIRE)
        assert (tls.certificate, tls.key, tls.authority) == ("/x/a.crt", "/x/a.key", "/x/ca.crt")
        assert tls.dials_tls


def test_a_file_of_its_own_is_read_and_the_servers_file_counts_more(tmp_path: Path) -> None:
    own = tmp_path / "tls.properties"
    own.write_text(TEXT)
    file = tmp_path / "a.conf"
    file.write_text(f"tls.config.file={own}\ntlsMode=permissive\nuseTLS=true\n")
    tls = broker_settings.read_settings(str(file), {}, []).tls
    assert (tls.mode, tls.certificate, tls.dials_tls) == (TlsMode.PERMISSIVE, "/x/a.crt", True)
    with pytest.raises(BadConfig, match="cannot be read"):
        given_in_tls_file([Given("tls.config.file", "/nowhere", "here")])


def test_variables_have_both_names() -> None:
    for name in ("AEROBEE_BROKER_TLS_SERVER_MODE", "AEROBEE_BROKER_TLS_MODE"):
        with pytest.raises(BadConfig, match="needs tlsCertificate and tlsKey"):
            broker_settings.read_settings(None, {name: "enforcing"}, [])


def test_a_password_is_in_no_listing(tmp_path: Path) -> None:
    file = tmp_path / "a.conf"
    file.write_text(TEXT + "tls.server.keyPassword=hush\n")
    read = broker_settings.read_settings(str(file), {}, [])
    assert read.tls.key_password == "hush"
    assert "hush" not in read.effective + str(read.shown()) + repr(read)
    assert "/x/" not in str(read.shown())
