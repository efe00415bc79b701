import json
import shutil
from pathlib import Path

import pytest

from tests.cli_kit import Said, aerobee_here
from tests.fixture_store import expected, unpack
from tests.server_kit import running_server


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that a broker of ours wrote and left."""
    home = tmp_path_factory.mktemp("store")
    with running_server(home) as server:
        server.send("CliStored", [b"first", b"second"], keys=["s-1"], tag="t")
        server.send("CliStored", [b"\xff\x00"])
        root = home / "data" / "store"
        held = aerobee_here("store", "verify", str(root))
        assert held.status == 1
        assert "code: StoreLocked" in held.error
    return root


@pytest.fixture
def apaches(tmp_path: Path) -> Path:
    return unpack("clean", tmp_path)


def store(root: Path, verb: str, *words: str) -> Said:
    return aerobee_here("store", verb, str(root), *words)


def test_our_own_store_is_looked_at(ours: Path) -> None:
    facts = store(ours, "info", "-o", "json").records
    assert (facts["log_start"], facts["topics"], facts["was_stopped_in_order"]) == (0, 1, True)
    log = store(ours, "log", "-o", "json").records
    assert [one["topic"] for one in log] == ["CliStored"] * 3
    assert [one["keys"] for one in log] == [["s-1"], ["s-1"], []]
    assert facts["flushed_to"] == log[-1]["log_offset"] + log[-1]["size"]
    lines = store(ours, "dump").out.splitlines()
    bodies = [json.loads(line).get("body") for line in lines]
    assert bodies == ["first", "second", None]
    keyed = store(ours, "index", "--topic", "CliStored", "--key", "s-1", "-o", "json").records
    assert [one["log_offset"] for one in keyed] == [log[1]["log_offset"], log[0]["log_offset"]]
    assert "no record" in store(ours, "index", "--topic", "CliStored", "--key", "x").out
    queues = store(ours, "queue", "-o", "json").records
    assert sum(one["messages"] for one in queues) == 3
    sound = store(ours, "verify")
    assert sound.status == 0
    assert sound.out.startswith("3 records up to log offset")
    assert sound.out.endswith("keys: no damage\n")


def test_apaches_store_is_looked_at(apaches: Path) -> None:
    told = expected("clean")["topics"]["FixPlain"]["queues"]["02"]
    queues = store(apaches, "queue", "--topic", "FixPlain", "-o", "json").records
    assert queues[2]["next"] == told["maxOffset"]
    units = store(apaches, "queue", "--topic", "FixPlain", "--queue", "2", "-o", "json").records
    assert [one["log_offset"] for one in units] == [
        message["commitLogOffset"] for message in told["messages"]
    ][:100]
    dumped = store(apaches, "dump", "--topic", "FixPlain", "--limit", "5").out.splitlines()
    assert {json.loads(line)["topic"] for line in dumped} == {"FixPlain"}
    assert store(apaches, "verify").status == 0
    files = store(apaches, "index", "-o", "json").records
    assert {one["slots"] for one in files} == {500}


def test_damage_is_unhealthy_and_has_a_place(ours: Path, tmp_path: Path) -> None:
    root = tmp_path / "store"
    shutil.copytree(ours, root)
    second = store(root, "log", "-o", "json").records[1]["log_offset"]
    log = root / "commitlog" / f"{0:020}"
    with log.open("r+b") as file:
        file.seek(second + 95)
        file.write(b"\xee\xee")
    said = store(root, "verify", "-o", "json")
    assert said.status == 4
    first = said.records[0]
    assert (first["kind"], first["path"], first["position"]) == ("damage", str(log), second)
    assert "damage" in store(root, "verify").out
    dumped = store(root, "dump")
    assert len(dumped.out.splitlines()) == 2
    assert f"damage: a record that does not match its checksum at log offset {second}" in (
        dumped.error
    )


def test_a_walk_begins_where_it_is_told_to(ours: Path) -> None:
    log = store(ours, "log", "-o", "json").records
    rest = store(ours, "log", "--from", str(log[1]["log_offset"]), "-o", "json").records
    assert rest == log[1:]
    assert len(store(ours, "log", "--limit", "1", "-o", "json").records) == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("verify", "nowhere"), 3),
        (("log",), 2),
        (("log", "nowhere", "--from", "x"), 2),
    ],
)
def test_what_is_no_store_is_not_found(words: tuple[str, ...], status: int) -> None:
    assert aerobee_here("store", *words).status == status


def test_what_is_not_in_it_is_not_found(ours: Path) -> None:
    assert store(ours, "queue", "--topic", "Nowhere").status == 3
    assert store(ours, "queue", "--topic", "CliStored", "--queue", "99").status == 3
    assert store(ours, "queue", "--queue", "1").status == 2
    assert store(ours, "index", "--key", "s-1").status == 2
    assert store(ours, "index", "--key", "s-1", "--topic", "Nowhere").status == 3
    dumped = store(ours, "dump", "--topic", "Nowhere")
    assert (dumped.status, dumped.out) == (3, "")
