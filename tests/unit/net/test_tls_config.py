import ssl

import pytest

from aerobee.model.setting import texts
from aerobee.net.tls_config import (
    ROCKETMQ_NAMES,
    SETTINGS,
    SHOWN_SETTINGS,
    Asked,
    TlsConfig,
    TlsMode,
)

KINDS = {setting.key: setting.kind for setting in SETTINGS}


def test_without_settings_nobody_speaks_tls() -> None:
    config = TlsConfig()
    assert (config.mode, config.dials_tls, config.is_used) == (TlsMode.DISABLED, False, False)


@pytest.mark.parametrize("mode", [TlsMode.PERMISSIVE, TlsMode.ENFORCING])
def test_a_mode_needs_a_certificate_and_its_key(mode: TlsMode) -> None:
    with pytest.raises(ValueError, match="aerobee tls init"):
        TlsConfig(mode, "a.crt")
    with pytest.raises(ValueError, match="go together"):
        TlsConfig(mode, "a.crt", "a.key", outgoing_key="b.key")
    assert TlsConfig(mode, "a.crt", "a.key").dials_tls == (mode is TlsMode.ENFORCING)
    assert not TlsConfig(mode, "a.crt", "a.key", is_outgoing=False).dials_tls


def test_versions_are_from_1_2_on() -> None:
    both = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
    assert TlsConfig().versions() == both
    assert TlsConfig(protocols=("TLSv1.3",)).versions() == (both[1], both[1])
    assert KINDS["tlsProtocols"].read("TLSv1.2, TLSv1.3") == ("TLSv1.2", "TLSv1.3")
    with pytest.raises(ValueError, match=r"TLSv1\.2"):
        KINDS["tlsProtocols"].read("TLSv1.1")


def test_words_are_taken_in_any_case_and_others_are_not() -> None:
    assert KINDS["tlsMode"].read("Enforcing") is TlsMode.ENFORCING
    assert KINDS["tlsClientCertificates"].read("REQUIRE") is Asked.REQUIRE
    with pytest.raises(ValueError, match="disabled or permissive or enforcing"):
        KINDS["tlsMode"].read("on")
    assert KINDS["tlsPeers"].read("B.example, a.example") == ("b.example", "a.example")
    assert [KINDS["tlsOutgoing"].read(text) for text in ("", "true")] == [None, True]


@pytest.mark.parametrize(
    ("key", "refused"),
    [
        ("tls.server.authClient", "false"),
        ("tls.client.authServer", "false"),
        ("tls.test.mode.enable", "true"),
    ],
)
def test_a_switch_that_would_check_less_is_refused(key: str, refused: str) -> None:
    with pytest.raises(ValueError, match=r"true|false"):
        KINDS[key].read(refused)


def test_passwords_are_not_written_and_paths_not_shown_to_clients() -> None:
    config = TlsConfig(certificate="/x/a.crt", key="/x/a.key", key_password="hush")
    assert "hush" not in str(texts(config, SETTINGS)) + repr(config)
    assert "/x/" not in str(texts(config, SHOWN_SETTINGS))


def test_every_name_of_rocketmq_is_one_of_our_settings() -> None:
    assert set(ROCKETMQ_NAMES.values()) <= set(KINDS)
