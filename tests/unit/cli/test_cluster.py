from tests.cli_kit import aerobee
from tests.server_kit import Server


def test_every_broker_is_listed_with_its_address(server: Server) -> None:
    said = aerobee(server, "cluster", "list", "-o", "json")
    assert said.status == 0
    (broker,) = said.records
    assert (broker["cluster"], broker["broker"], broker["id"]) == ("DefaultCluster", "broker-a", 0)
    assert broker["address"].startswith("127.0.0.1:")
    assert "BROKER" in aerobee(server, "cluster", "list").out


def test_where_no_server_is_the_error_says_what_to_do() -> None:
    said = aerobee(Server("127.0.0.1:1"), "cluster", "list")
    assert said.status == 1
    assert "127.0.0.1:1" in said.error
    assert "aerobee up" in said.error
    assert said.out == ""
