import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.fan_out import masters_in
from aerobee.errors import Misuse, PartlyDone, Refused, Unreachable
from aerobee.model.route import BrokerData, ClusterInfo
from aerobee.testing import Cluster
from tests.admin_kit import with_admin

INFO = ClusterInfo(
    (
        BrokerData("east", "a", {0: "10.0.0.1:1", 1: "10.0.0.2:1"}),
        BrokerData("east", "b", {0: "10.0.0.3:1"}),
        BrokerData("west", "c", {0: "10.0.0.4:1"}),
        BrokerData("west", "d", {1: "10.0.0.5:1"}),
    )
)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ((), ["a", "b", "c"]),
        (("b",), ["b"]),
        (("east",), ["a", "b"]),
        (("west", "a"), ["c", "a"]),
        (("a", "9.9.9.9:7"), ["a", "9.9.9.9:7"]),
    ],
)
def test_brokers_are_meant_by_their_name_their_cluster_or_their_address(
    wanted: tuple[str, ...], names: list[str]
) -> None:
    assert list(masters_in(INFO, wanted)) == names


def test_a_slave_is_never_taken_for_a_master() -> None:
    assert set(masters_in(INFO, ()).values()) == {"10.0.0.1:1", "10.0.0.3:1", "10.0.0.4:1"}
    with pytest.raises(Misuse, match="no broker is registered"):
        masters_in(INFO, ("d",))


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(Misuse, match="a, b, c, d, east, west"):
        masters_in(INFO, ("e",))


def test_those_that_fail_are_named_and_the_others_have_done_it() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        with pytest.raises(PartlyDone) as failed:
            await admin.topics.create("orders", on=("broker-a", "127.0.0.1:1"))
        assert list(failed.value.done) == ["broker-a"]
        assert isinstance(failed.value.failed["127.0.0.1:1"], Unreachable)
        assert await admin.topics.exists("orders")

    with_admin(test)


def test_whoever_asks_one_server_gets_its_own_error() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        with pytest.raises(Refused, match="system topic"):
            await admin.topics.delete("TBW102", on="broker-a")

    with_admin(test)
