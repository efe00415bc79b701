import json
from pathlib import Path

from tests.cli_kit import aerobee
from tests.server_kit import Server


def test_a_cluster_that_runs_can_be_reached(server: Server, tmp_path: Path) -> None:
    said = aerobee(server, "doctor", "--store", str(tmp_path), "-o", "json")
    cluster = [one for one in said.records if one["area"] == "cluster"]
    assert [one["level"] for one in cluster] == ["ok", "ok"]
    assert cluster[0]["subject"] == f"name server {server.name_server}"
    assert any(one["subject"] == "time of broker-a" for one in said.records)
    is_bad = any(one["level"] == "bad" for one in said.records)
    assert said.status == (4 if is_bad else 0)


def test_people_are_shown_80_columns_and_what_to_do_next(tmp_path: Path) -> None:
    said = aerobee(Server("127.0.0.1:1"), "doctor", "--store", str(tmp_path))
    assert said.status == 4
    lines = said.out.splitlines()
    assert [line for line in lines if len(line) > 80 and str(tmp_path) not in line] == []
    assert any(line.startswith("BAD  cluster  name server 127.0.0.1:1") for line in lines)
    assert "→ start it, or give the right address with -n," in said.out
    assert "because clients find brokers through it" in said.out
    assert "--fix" in lines[-1]


def test_fix_prints_commands_and_runs_none(tmp_path: Path) -> None:
    said = aerobee(Server("127.0.0.1:1"), "doctor", "--store", str(tmp_path), "--fix")
    assert said.status == 4
    assert said.out.startswith("# Nothing here was run.")
    assert "\naerobee nameserver start\n" in said.out
    assert list(tmp_path.iterdir()) == []


def test_mistakes_of_a_configuration_are_findings(server: Server, tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    config.write_text("flushDiskTyp=SYNC_FLUSH\n")
    flags = ("-c", str(config), "--store", str(tmp_path))
    said = aerobee(server, "doctor", *flags, "-o", "ndjson")
    found = [json.loads(line) for line in said.out.splitlines()]
    (mistake,) = [one for one in found if one["area"] == "settings"]
    assert mistake["level"] == "bad"
    assert "did you mean flushDiskType" in mistake["seen"]
    assert said.status == 4


def test_help_has_examples() -> None:
    said = aerobee(Server("127.0.0.1:1"), "doctor", "--help")
    assert said.status == 0
    assert "aerobee doctor --fix" in said.out
