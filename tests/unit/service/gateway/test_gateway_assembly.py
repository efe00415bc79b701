from aerobee.ports.service import Effects
from aerobee.service.gateway.callers import NO_GUARD
from aerobee.service.gateway.config import GatewayConfig
from aerobee.service.gateway.gateway_assembly import GatewayIdentity, GatewayParts
from tests.gateway_kit import ADDRESS, NAME_SERVER


def test_the_limits_of_the_settings_hold_for_calls() -> None:
    outbox: Effects = []
    config = GatewayConfig(body_bytes_max=1_000)
    identity = GatewayIdentity("gateway", ADDRESS)
    parts = GatewayParts(identity, config, (NAME_SERVER,), NO_GUARD, outbox)
    assert 1_000 < parts.door.message_bytes_max < 1_000_000
    assert outbox == []
