from pathlib import Path

import pytest

from aerobee.app.settings.config import BadConfig, Given
from aerobee.console.settings import ConsoleConfig, read_settings


def test_the_later_place_counts(tmp_path: Path) -> None:
    file = tmp_path / "console.conf"
    file.write_text("listenPort=1\nbindAddress=127.0.0.2\ndataPath=/there\n")
    told = read_settings(
        str(file), {"AEROBEE_CONSOLE_LISTEN_PORT": "2"}, [Given("listenPort", "3", "--port")]
    )
    assert (told.port, told.host, told.folder) == (3, "127.0.0.2", "/there")
    assert read_settings(None, {}, []) == ConsoleConfig()


@pytest.mark.parametrize(
    ("host", "needed"),
    [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True)],
)
def test_another_address_than_loopback_needs_a_log_in(host: str, needed: bool) -> None:
    assert ConsoleConfig(host=host).needs_login is needed
    assert ConsoleConfig(host=host, is_login_required=True).needs_login


@pytest.mark.parametrize(
    ("given", "is_right"),
    [
        ({}, False),
        ({"insecure": "true"}, True),
        ({"tlsCertPath": "a.pem", "tlsKeyPath": "b.pem"}, True),
    ],
)
def test_another_address_than_loopback_needs_tls_or_to_be_insecure_by_name(
    given: dict[str, str], is_right: bool
) -> None:
    told = [Given(key, text, "--x") for key, text in {"bindAddress": "0.0.0.0", **given}.items()]
    if is_right:
        assert read_settings(None, {}, told).needs_login
    else:
        with pytest.raises(BadConfig, match="insecure=true"):
            read_settings(None, {}, told)


def test_mistakes_are_told_together() -> None:
    with pytest.raises(BadConfig) as caught:
        read_settings(None, {"AEROBEE_CONSOLE_LISTEN_PORT": "x"}, [Given("lstenPort", "1", "--p")])
    assert len(caught.value.mistakes) == 2
    with pytest.raises(BadConfig, match="needs tlsCertificate and tlsKey"):
        read_settings(None, {}, [Given("tlsCertPath", "a.pem", "--c")])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("loginUsers", "ldap"),
        ("prometheusUrl", "file:///etc/passwd"),
        ("pipelinePages", "127.0.0.1:9108,http://x"),
    ],
)
def test_addresses_and_words_of_settings_are_checked(key: str, value: str) -> None:
    with pytest.raises(BadConfig, match=key):
        read_settings(None, {}, [Given(key, value, "--x")])


def test_certificates_have_the_settings_of_servers(tmp_path: Path) -> None:
    file = tmp_path / "console.conf"
    file.write_text("tls.server.mode=enforcing\ntls.server.certPath=a.crt\ntlsKey=/other\n")
    told = read_settings(str(file), {"AEROBEE_CONSOLE_TLS_KEY": "a.key"}, [])
    assert (told.has_tls, told.tls.certificate, told.tls.key) == (True, "a.crt", "a.key")
    assert not told.tls.dials_tls
    short = [Given("tlsCertPath", "a.crt", "--c"), Given("tlsKeyPath", "a.key", "--k")]
    assert read_settings(None, {}, short).tls == told.tls
    assert not ConsoleConfig().has_tls


@pytest.mark.parametrize("key", ["tlsPeers", "tlsOutgoingAuthority", "tlsMode"])
def test_a_setting_of_tls_without_a_meaning_for_a_console_is_refused(key: str) -> None:
    pair = [Given("tlsCertPath", "a.crt", "--c"), Given("tlsKeyPath", "a.key", "--k")]
    with pytest.raises(BadConfig, match=key):
        read_settings(None, {}, [*pair, Given(key, "permissive", "--x")])


def test_pages_of_jobs_are_a_list() -> None:
    told = ConsoleConfig(pipeline_pages="127.0.0.1:9108, [::1]:9109,")
    assert told.pages_of_jobs == ("127.0.0.1:9108", "[::1]:9109")


def test_names_of_hosts_are_a_list() -> None:
    assert ConsoleConfig(hosts="A.example, b.example,").host_names == {"a.example", "b.example"}
