import pytest

from aerobee.errors import StorageError
from aerobee.model.replica_status import ACTING
from aerobee.ports.clock import Now
from aerobee.ports.service import CloseLink, Effects, LinkId, Peer, Rebuild
from aerobee.service.broker.replication.acting.acting_side import LEAVE_MS_MAX, ActingSide
from aerobee.service.broker.replication.acting.escaped_puts import EscapedPuts
from aerobee.service.topic_routes import TopicRoutes
from tests.store_kit import StoreKit, draft


class Rig:
    def __init__(self, *, escapes: bool = True) -> None:
        self.kit = StoreKit()
        self.outbox: Effects = []
        routes = TopicRoutes([], self.outbox)
        self.puts = EscapedPuts(
            "broker-a", "c", "revive", routes, self.kit.store.appender, self.outbox
        )
        self.side = ActingSide(self.kit.store, 2, self.puts if escapes else None, self.outbox)

    def has_left(self) -> bool:
        return any(isinstance(one, Rebuild) for one in self.outbox)


def test_nothing_is_appended_to_its_log_and_it_says_that_it_acts() -> None:
    rig = Rig()
    with pytest.raises(StorageError, match="slave"):
        rig.kit.store.append(draft(), 0)
    status = rig.side.status(Now(0, 0))
    assert (status.state, status.master) == (ACTING, "")
    assert "other masters" in status.why
    assert "wait" in Rig(escapes=False).side.status(Now(0, 0)).why


def test_it_ends_when_a_master_is_registered_or_returns_or_a_smaller_id_is_there() -> None:
    now = Now(0, 0)
    for number in range(5):
        rig = Rig()
        rig.side.hear_members({2: "me:1", 3: "b:1"}, now)
        rig.side.hear_members(None, now)
        rig.side.hear_of_master("", "", now)
        assert not rig.has_left()
        match number:
            case 0:
                rig.side.hear_members({0: "a:1", 2: "me:1"}, now)
            case 1:
                rig.side.hear_members({1: "a:1", 2: "me:1"}, now)
            case 2:
                rig.side.hear_of_master("a:1", "a:2", now)
            case _:
                rig.side.follow("a:1", "a:2", now)
        assert rig.has_left()
        with pytest.raises(StorageError):
            rig.puts.appender.append(draft(), 0)


def test_it_waits_for_puts_under_way_but_not_for_ever() -> None:
    rig = Rig()
    rig.puts.appender.append(draft(), 0)
    rig.side.follow("a:1", "a:2", Now(0, 0))
    rig.side.on_tick(Now(0, LEAVE_MS_MAX - 1))
    assert not rig.has_left()
    rig.side.on_tick(Now(0, LEAVE_MS_MAX))
    assert rig.has_left()


def test_a_slave_that_connects_is_turned_away() -> None:
    rig = Rig()
    rig.side.on_link_open(LinkId(1), Peer("x", 1), False, Now(0, 0))
    assert [type(one) for one in rig.outbox] == [CloseLink]
