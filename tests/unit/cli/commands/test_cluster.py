from tests.cli_kit import NOWHERE, OnTerminal, aerobee
from tests.server_kit import Server


def test_every_broker_is_listed_with_its_address(server: Server) -> None:
    said = aerobee(server, "cluster", "list", "-o", "json")
    assert said.status == 0
    (broker,) = said.records
    assert (broker["cluster"], broker["broker"], broker["id"]) == ("DefaultCluster", "broker-a", 0)
    assert broker["address"].startswith("127.0.0.1:")
    assert "BROKER" in aerobee(server, "cluster", "list").out


def test_what_there_is_in_all_is_told(server: Server) -> None:
    server.send("CliCounted", [b"x"])
    facts = aerobee(server, "cluster", "info", "-o", "json").records
    assert facts["name_servers"] == [server.name_server]
    assert (facts["clusters"], facts["brokers"]) == (["DefaultCluster"], 1)
    listed = aerobee(server, "topic", "list", "-o", "json").records
    assert facts["topics"] == len(listed)


def test_a_cluster_that_is_well_has_the_status_0(server: Server) -> None:
    said = aerobee(server, "cluster", "health", "-o", "json")
    assert said.status == 0
    assert [one["kind"] for one in said.records] == ["name server", "broker", "disk"]
    assert all(one["is_well"] and one["fault"] is None for one in said.records)


def test_a_name_server_that_does_not_answer_is_unhealthy(server: Server) -> None:
    both = Server(f"127.0.0.1:1;{server.name_server}")
    said = aerobee(both, "cluster", "health", "-o", "json")
    assert said.status == 4
    assert [one["name"] for one in said.records if not one["is_well"]] == ["127.0.0.1:1"]
    none = aerobee(NOWHERE, "cluster", "health", "-o", "json")
    assert none.status == 4
    assert [one["is_well"] for one in none.records] == [False]


def test_where_no_server_is_the_error_says_what_to_do() -> None:
    said = aerobee(NOWHERE, "cluster", "list")
    assert said.status == 1
    assert "127.0.0.1:1" in said.error
    assert "aerobee up" in said.error
    assert said.out == ""


def test_a_terminal_of_80_columns_is_enough(server: Server) -> None:
    status, lines = OnTerminal("cluster", "list", "-n", server.name_server).end()
    assert status == 0
    assert all(len(line) <= 80 for line in lines)
    assert "…" in lines[1]
    (broker,) = aerobee(server, "cluster", "list", "-o", "json").records
    assert f" {broker['address']} " in lines[1]  # half an address is none
    status, lines = OnTerminal("cluster", "list", "--wide", "-n", server.name_server).end()
    assert "…" not in lines[1]
