import os
import socket
from pathlib import Path

import pytest

from aerobee.raft.membership import Member, Members
from aerobee.raft.saved_state import first_state
from aerobee.raft.state_file import load_state, save_state
from aerobee.replication.raft_state import FILE, LEFT_FILE
from aerobee.system.disk import MappedDisk
from tests.cli_kit import Said, aerobee_here

TO_GROUP = ("--to", "group", "--member", "n0-127.0.0.1:1")


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "commitlog").mkdir()
    return str(tmp_path)


def convert(store: str, *words: str, stdin: str | None = None) -> Said:
    return aerobee_here("broker", "convert", store, *words, stdin=stdin)


def test_a_store_becomes_a_members_and_a_single_brokers_again(store: str) -> None:
    dry = convert(store, *TO_GROUP, "--dry-run")
    assert dry.status == 0, dry.error
    assert f"would make {store} the store of n0" in dry.out
    assert not os.path.exists(f"{store}/{FILE}")
    said = convert(store, *TO_GROUP, "--yes")
    assert said.status == 0, said.error
    assert "dLegerPeers=n0-127.0.0.1:1\ndLegerSelfId=n0\n" in said.out
    assert "# and nothing of brokerRole" in said.out
    state = load_state(MappedDisk(), f"{store}/{FILE}")
    assert state is not None
    back = convert(store, "--to", "single", "--yes", "-o", "json")
    assert back.status == 0, back.error
    assert '"brokerRole"' in back.out
    assert not os.path.exists(f"{store}/{FILE}")
    assert load_state(MappedDisk(), f"{store}/{LEFT_FILE}") == state


def test_nothing_is_done_before_somebody_agrees(store: str) -> None:
    said = convert(store, *TO_GROUP, stdin="")
    assert (said.status, "--yes or --dry-run" in said.error) == (2, True)
    assert not os.path.exists(f"{store}/{FILE}")


def test_no_single_broker_is_made_beside_a_member_that_answers(store: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        other = f"127.0.0.1:{listener.getsockname()[1]}"
        members = Members((Member(0, "127.0.0.1:1", True), Member(1, other, False)))
        save_state(MappedDisk(), f"{store}/{FILE}", first_state(members))
        said = convert(store, "--to", "single", "--yes")
    assert said.status == 1
    assert f"another member answers at {other}" in said.error
    assert os.path.exists(f"{store}/{FILE}")


def test_what_is_missing_or_too_much_is_said(store: str) -> None:
    said = convert(store, "--to", "group")
    assert (said.status, "--member n0-10.0.0.1:40911" in said.error) == (2, True)
    said = convert(store, "--to", "single", "--survivor")
    assert (said.status, "are for --to group" in said.error) == (2, True)
    said = convert(f"{store}/nowhere", *TO_GROUP)
    assert (said.status, "it has no commitlog" in said.error) == (3, True)
