from aerobee.model.setting import texts
from aerobee.service.gateway.config import SETTINGS, GatewayConfig


def test_keys_are_those_of_rocketmqs_proxy() -> None:
    assert texts(GatewayConfig(), SETTINGS) == {
        "rocketMQClusterName": "DefaultCluster",
        "maxMessageSize": "4194304",
        "useEndpointPortFromRequest": "false",
    }
