import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.tuning import ROCKSDB
from aerobee.errors import RemoteAnswer
from aerobee.testing import Cluster
from tests.admin_kit import with_admin


def test_a_broker_without_these_says_why() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.tuning.cold_limits() == {"broker-a": {}}
        cold = await admin.tuning.cold_state()
        assert cold == {"broker-a": {"runtimeTable": {}, "configTable": {}}}
        (light,) = (await admin.tuning.light_state()).values()
        assert isinstance(light, dict)
        assert light["currentLmqNum"] == 0
        for asked, said in (
            (admin.tuning.set_cold_limit("g", 1), "no limits per group"),
            (admin.tuning.remove_cold_limit("g"), "no limits per group"),
            (admin.tuning.set_read_ahead(is_on=True), "no mode to set"),
            (admin.tuning.switch_timer_engine(ROCKSDB), "one engine"),
        ):
            with pytest.raises(RemoteAnswer, match=said):
                await asked

    with_admin(test)
