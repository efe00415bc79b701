"""The short way of a pop takes what is like the one before, and gives way whenever it does not fit.

That both ways mean the same is a property test; here it is what goes which way.
"""

import pytest

from aerobee.service.broker.fast_path import GRANTS_MAX
from aerobee.service.broker.pop.take.held_pops import LATE_MS_MAX
from tests.broker_kit import CLIENT, OTHER
from tests.fast_pop_rig import ShortPopRig


def test_the_first_one_is_learned_from_and_the_next_goes_on() -> None:
    rig = ShortPopRig()
    assert rig.offsets() is None
    assert rig.offsets() == [4, 5, 6, 7]
    assert rig.offsets() == [8, 9, 10, 11]


def test_a_pop_that_comes_too_late_is_not_given_messages() -> None:
    rig = ShortPopRig()
    rig.pop(pollTime=1_000)
    now = rig.kit.clock.now().wall_ms
    late = {"pollTime": 1_000, "bornTime": now - 1_001 - LATE_MS_MAX}
    is_short, answer = rig.ask(**late)
    assert (is_short, answer.code) == (False, 210)
    assert rig.pop(pollTime=1_000, bornTime=now - 1_000 - LATE_MS_MAX) is not None


def test_a_group_that_may_not_read_any_more_does_not() -> None:
    rig = ShortPopRig()
    rig.pop()
    assert rig.pop() is not None
    said = {"group": "g", "topic": "Orders", "readable": "false"}
    assert rig.kit.ask(353, said, channel=OTHER).code == 0
    assert rig.ask()[1].code == 16


@pytest.mark.parametrize("other", [{"order": "true"}, {"queueId": 0, "order": "true"}])
def test_ordered_pops_are_never_learned_from(other: dict[str, object]) -> None:
    rig = ShortPopRig()
    for _ in range(3):
        assert rig.pop(**other) is None


def test_a_connection_is_remembered_for_a_few_kinds_only_and_while_it_lives() -> None:
    rig = ShortPopRig()
    for number in range(GRANTS_MAX + 1):
        assert rig.pop(consumerGroup=f"g{number}") is None
    assert rig.offsets(consumerGroup="g1") == [4, 5, 6, 7]
    assert rig.pop(consumerGroup="g0") is None
    rig.kit.close(CLIENT)
    rig.kit.open(CLIENT)
    assert rig.pop(consumerGroup="g1") is None
