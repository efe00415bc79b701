import pytest

from aerobee.model.access import Credentials
from aerobee.model.setting import Setting, texts
from aerobee.service.access.config import (
    CLASS_SETTINGS,
    SETTINGS,
    AccessClasses,
    AccessConfig,
)

ALL: dict[str, Setting] = {setting.key: setting for setting in (*SETTINGS, *CLASS_SETTINGS)}


def read(key: str, text: str) -> object:
    return ALL[key].kind.read(text)


def test_users_of_the_settings_are_read_as_rocketmqs_file_has_them() -> None:
    text = '{"username":"rocketmq","password":"12345678"}'
    assert read("initAuthenticationUser", text) == Credentials("rocketmq", "12345678")
    text = '{"accessKey":"inner","secretKey":"s","securityToken":"t"}'
    key = "innerClientAuthenticationCredentials"
    assert read(key, text) == Credentials("inner", "s", "t")
    assert read(key, "") is None


@pytest.mark.parametrize(
    "text", ["x", "{}", '{"username":"u"}', '{"username":"","password":"p"}', '["u","p"]']
)
def test_a_bad_user_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ValueError, match="username") as refused:
        read("initAuthenticationUser", text)
    assert '"p"' not in str(refused.value).replace('"password"', "")


def test_settings_are_shown_without_secrets() -> None:
    config = AccessConfig(
        True, True, Credentials("root", "hidden1"), Credentials("in", "hidden2", "hidden3")
    )
    shown = texts(config, SETTINGS)
    assert "hidden" not in repr((shown, config))
    assert shown["initAuthenticationUser"] == '{"username":"root"}'


def test_lists_of_codes_are_read() -> None:
    assert read("authenticationWhitelist", "105, 34,") == frozenset({34, 105})
    assert read("authorizationWhitelist", "") == frozenset()
    for text in ("x", "-1", "1;2", "１"):
        with pytest.raises(ValueError, match="request codes"):
            read("authenticationWhitelist", text)


def test_rocketmqs_classes_are_known_by_name() -> None:
    package = "org.apache.rocketmq.auth.authentication.strategy."
    assert read("authenticationStrategy", "") is False
    assert read("authenticationStrategy", f"{package}StatelessAuthenticationStrategy") is False
    assert read("authenticationStrategy", f"{package}StatefulAuthenticationStrategy") is True
    assert read("authenticationStrategy", "StatefulAuthenticationStrategy") is True
    package = "org.apache.rocketmq.auth.authorization.provider."
    name = f"{package}LocalAuthorizationMetadataProvider"
    assert read("authorizationMetadataProvider", name) is False
    with pytest.raises(ValueError, match="LocalAuthorizationMetadataProvider"):
        read("authorizationMetadataProvider", "com.example.Mine")
    assert texts(AccessClasses(), CLASS_SETTINGS)["authorizationMetadataProvider"] == name


def test_rules_without_signatures_are_refused() -> None:
    with pytest.raises(ValueError, match="anybody could name any user"):
        AccessConfig(authorizes=True)


def test_signatures_without_a_first_user_are_refused() -> None:
    with pytest.raises(ValueError, match="no user to begin with"):
        AccessConfig(authenticates=True)
