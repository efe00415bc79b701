from pathlib import Path

import pytest

from aerobee.app.settings.config import BadConfig, Given, ListenConfig
from aerobee.app.settings.proxy_settings import ProxySettings, read_settings

NAMED = Given("namesrvAddr", "ns:9876", "-n")


def read(
    folder: Path, text: str | None = None, *flags: Given, name: str = "proxy.conf", **said: str
) -> ProxySettings:
    file = folder / name
    if text is not None:
        file.write_text(text)
    return read_settings(None if text is None else str(file), said, [NAMED, *flags])


def test_without_anything_given_a_proxy_is_rocketmqs_on_loopback(tmp_path: Path) -> None:
    settings = read(tmp_path)
    assert settings.listen == ListenConfig(8081, "127.0.0.1")
    assert settings.links.nameservers == ("ns:9876",)
    assert settings.service.cluster == "DefaultCluster"
    assert not settings.is_exposed


def test_it_must_be_told_where_name_servers_are(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"namesrvAddr is missing: .* -n HOST:PORT"):
        read_settings(None, {}, [])
    assert read_settings(None, {"NAMESRV_ADDR": "a:1"}, []).links.nameservers == ("a:1",)


def test_rocketmqs_own_file_is_read(tmp_path: Path) -> None:
    text = '{"rocketMQClusterName": "c", "grpcServerPort": 9, "useEndpointPortFromRequest": true, '
    settings = read(tmp_path, text + '"remotingListenPort": 1}', name="rmq-proxy.json")
    assert (settings.service.cluster, settings.listen.port) == ("c", 9)
    assert settings.service.keeps_port
    assert settings.ignored == ["remotingListenPort"]


@pytest.mark.parametrize(("text", "fault"), [("{", "is no JSON"), ("[]", "is no JSON object")])
def test_a_file_that_is_no_json_object_is_refused(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=fault):
        read(tmp_path, text, name="rmq-proxy.json")
    with pytest.raises(BadConfig, match="cannot be read"):
        read_settings(str(tmp_path / "none.json"), {}, [NAMED])


def test_flags_count_over_environment_over_file(tmp_path: Path) -> None:
    text, variable = "grpcServerPort=1", {"AEROBEE_PROXY_GRPC_SERVER_PORT": "2"}
    flag = Given("grpcServerPort", "3", "--port")
    assert read(tmp_path, text).listen.port == 1
    assert read(tmp_path, text, **variable).listen.port == 2
    assert read(tmp_path, text, flag, **variable).listen.port == 3


def test_another_address_than_loopback_needs_authentication_or_the_word_insecure(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadConfig, match="open to other machines"):
        read(tmp_path, "bindAddress=0.0.0.0")
    assert read(tmp_path, "bindAddress=0.0.0.0\ninsecure=true").is_exposed


def test_callers_get_no_rights_of_the_proxys_user_by_accident(tmp_path: Path) -> None:
    own = 'innerClientAuthenticationCredentials={"accessKey":"p","secretKey":"s"}\n'
    with pytest.raises(BadConfig, match="would give every caller the rights of that user"):
        read(tmp_path, own)
    asking = 'authenticationEnabled=true\ninitAuthenticationUser={"username":"u","password":"p"}\n'
    assert read(tmp_path, own + asking).access.authenticates
    assert read(tmp_path, own + "insecure=true").access.inner is not None


def test_the_service_inside_a_broker_is_not_this_process(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="proxyMode must be CLUSTER"):
        read(tmp_path, "proxyMode=LOCAL")
