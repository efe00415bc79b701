import pytest

from aerobee.replication.group_config import (
    GROUP_SETTINGS,
    SECOND_NAMES,
    NodeId,
    NodeIds,
    PeersKind,
    RaftGroupConfig,
    RaftPeer,
    group_mistakes,
)

TEXT = "n0-10.0.0.1:40911;n1-10.0.0.2:40912"


def test_members_are_written_as_dledger_writes_them() -> None:
    peers = PeersKind().read(TEXT)
    assert peers == (RaftPeer(0, "10.0.0.1:40911"), RaftPeer(1, "10.0.0.2:40912"))
    assert PeersKind().write(peers) == TEXT
    assert PeersKind().read("") == ()


@pytest.mark.parametrize("text", ["n0", "n0-host", "n0-h:70000", "0-h:1", "n0-h:1;n0-i:2"])
def test_members_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="members"):
        PeersKind().read(text)


def test_names_of_members_are_a_letter_and_a_number() -> None:
    assert NodeId().read("n2") == 2
    assert NodeId().write(NodeId().read("")) == ""
    assert NodeIds().read("n0;n2") == (0, 2)
    assert NodeIds().write((0, 2)) == "n0;n2"
    for text in ("2", "n", "n-2"):
        with pytest.raises(ValueError, match="like n0"):
            NodeId().read(text)
        with pytest.raises(ValueError, match="like n0"):
            NodeIds().read(text)


def test_a_member_knows_its_address_and_its_id_as_a_follower() -> None:
    config = RaftGroupConfig(is_on=True, peers=PeersKind().read(TEXT), node=1)
    assert (config.address, config.port, config.broker_id) == ("10.0.0.2:40912", 40912, 2)
    assert config.members().voters == {0, 1}
    assert group_mistakes(config) == []


def test_settings_that_do_not_fit_together_are_mistakes() -> None:
    (missing,) = group_mistakes(RaftGroupConfig(is_on=True, node=3))
    assert "must be one of dLegerPeers" in missing
    slow = RaftGroupConfig(is_on=True, peers=PeersKind().read(TEXT), node=0, heartbeat_ms=900)
    (late,) = group_mistakes(slow)
    assert "write raftHeartbeatInterval=200" in late
    assert group_mistakes(RaftGroupConfig(heartbeat_ms=900)) == []


def test_second_names_are_those_of_settings() -> None:
    assert set(SECOND_NAMES.values()) < {one.key for one in GROUP_SETTINGS}
