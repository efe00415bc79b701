from aerobee.model.broker_role import Stage
from aerobee.ports.clock import Now
from aerobee.ports.service import Effects, Rebuild
from aerobee.service.broker.replication.acting.acting_watch import ACT_AFTER_MS, ActingWatch

ALONE = {1: "10.0.0.2:10911", 2: "10.0.0.3:10911"}


class Rig:
    def __init__(self, broker_id: int = 1) -> None:
        self.is_linked = False
        self.outbox: Effects = []
        self.watch = ActingWatch(broker_id, lambda: self.is_linked, self.outbox)

    def hear(self, ms: int, members: dict[int, str] | None) -> bool:
        """Whether it acts from now on."""
        self.watch.hear_members(members, Now(0, ms))
        wishes = [one for one in self.outbox if isinstance(one, Rebuild)]
        return [one.stage for one in wishes] == [Stage.ACTING]


def test_the_slave_with_the_smallest_id_acts_after_a_while_without_a_master() -> None:
    first, second = Rig(1), Rig(2)
    for ms in (0, ACT_AFTER_MS - 1):
        assert not first.hear(ms, ALONE)
        assert not second.hear(ms, ALONE)
    assert first.hear(ACT_AFTER_MS, ALONE)
    assert not second.hear(ACT_AFTER_MS, ALONE)
    assert first.hear(ACT_AFTER_MS + 1, ALONE), "it asks once"


def test_a_master_that_is_registered_or_linked_or_returns_begins_the_time_anew() -> None:
    for number in range(4):
        rig = Rig()
        rig.hear(0, ALONE)
        if number == 0:
            rig.hear(1, {0: "10.0.0.1:10911", **ALONE})
        elif number == 1:
            rig.is_linked = True
            rig.hear(1, ALONE)
            rig.is_linked = False
        elif number == 2:
            rig.watch.hear_of_master()
        else:
            rig.hear(1, None)
        assert not rig.hear(ACT_AFTER_MS, ALONE)
        assert rig.hear(2 * ACT_AFTER_MS, ALONE)


def test_a_slave_that_name_servers_do_not_know_does_not_act() -> None:
    rig = Rig()
    assert not rig.hear(0, {})
    assert not rig.hear(2 * ACT_AFTER_MS, {})
