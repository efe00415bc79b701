from dataclasses import fields

from aerobee.model.setting import changed, texts
from aerobee.service.broker.config import SETTINGS, BrokerConfig


def test_every_field_has_one_setting() -> None:
    named = [setting.field for setting in SETTINGS]
    assert sorted(named) == sorted(field.name for field in fields(BrokerConfig))


def test_defaults_are_what_their_own_settings_accept() -> None:
    config = BrokerConfig()
    said = texts(config, SETTINGS)
    for setting in SETTINGS:
        assert setting.kind.read(said[setting.key]) == getattr(config, setting.field)


def test_the_permission_may_change_while_it_runs() -> None:
    assert changed(BrokerConfig(), SETTINGS, {"brokerPermission": "4"}).permission == 4
