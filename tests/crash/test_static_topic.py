"""A static topic whose queues are moved while brokers die: at every request of the administrator, a
broker is killed or loses its power before or after it, and the administrator's program ends.

The plan is then applied again. Whatever was interrupted:

- an older mapping never wins: the brokers agree on the newest, and refuse the one before it
- nothing is lost: every acknowledged message is read by its logical queue, in order
- logical offsets rise, and a group goes on where it was
"""

import contextlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from aerobee.errors import Misuse, RemoteAnswer, RequestTimeout
from aerobee.model.mapping_plan import agreed
from aerobee.model.queue_mapping import NO_BROKER
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import SYNC, BrokerKit
from tests.static_topic_kit import NAMES, TOPIC, StaticBrokers, run

QUEUES = 2
DEATHS: dict[str, Callable[[BrokerKit], BrokerKit]] = {
    "killed": BrokerKit.killed,
    "power cut": BrokerKit.power_cut,
}


class Story:
    """Brokers, and the messages that they have acknowledged."""

    def __init__(self) -> None:
        self.brokers = StaticBrokers(SYNC)
        self.sent: dict[int, list[bytes]] = {number: [] for number in range(QUEUES)}
        self.brokers.create(QUEUES, "broker-a")
        self.send()
        self.brokers.ask(15, 0, consumerGroup="g", commitOffset=1)
        self.brokers.kits["broker-a"].run(10_000, 1_000)  # committed offsets are saved now and then

    def send(self) -> None:
        """Send messages to every queue: as a producer that looks for the leader, and as one that
        still takes the first broker for it. One that is refused is not stored."""
        for number, bodies in self.sent.items():
            for name in dict.fromkeys((self.brokers.leader(number), "broker-a")):
                body = b"%s %d" % (name.encode(), len(bodies))
                if name != NO_BROKER and self.brokers.send(number, body, on=name).code == 0:
                    bodies.append(body)

    def die(self, name: str, death: str) -> None:
        self.brokers.kits[name] = DEATHS[death](self.brokers.kits[name])

    def judge(self) -> None:
        for number, bodies in self.sent.items():
            found = self.brokers.read(number)
            # Between two steps both brokers take messages; each keeps the order of its own.
            for name in NAMES:
                own = [body for body in bodies if body.startswith(name.encode())]
                assert [body for _, body in found if body.startswith(name.encode())] == own
            assert len(found) == len(bodies)
            offsets = [offset for offset, _ in found]
            assert offsets == sorted(set(offsets))
        assert self.brokers.ask(14, 0, consumerGroup="g").ext_fields["offset"] == "1"


class Interruption:
    """Called for every request of the administrator: messages come in between, and at one of the
    requests a broker dies and no answer comes."""

    def __init__(self, story: Story, stop_at: int, victim: str, death: str) -> None:
        self.asked = 0
        self._story = story
        self._stop_at = stop_at
        self._victim = victim
        self._death = death

    def __call__(self, name: str, command: RemotingCommand) -> None:
        self._story.send()
        self.asked += 1
        if self.asked > self._stop_at:
            self._story.die(self._victim, self._death)
            raise RequestTimeout(f"{name} does not answer", address=name)


def requests_of_a_move() -> int:
    story = Story()
    plan = run(story.brokers.admin.plan_move(TOPIC, on=["broker-b"]))
    counted = story.brokers.fan_out.before = Interruption(story, 10_000, "", "")
    run(story.brokers.admin.apply(plan))
    return counted.asked


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("victim", ["broker-a", "broker-b"])
@pytest.mark.parametrize("is_before", [pytest.param(True, marks=pytest.mark.night), False])
def test_a_move_that_is_interrupted_anywhere_is_finished_later_and_loses_nothing(
    death: str, victim: str, is_before: bool
) -> None:
    for stop_at in range(requests_of_a_move()):
        story = Story()
        brokers, fan_out = story.brokers, story.brokers.fan_out
        before = brokers.known()
        plan = run(brokers.admin.plan_move(TOPIC, on=["broker-b"]))
        stop = Interruption(story, stop_at, victim, death)
        setattr(fan_out, "before" if is_before else "after", stop)
        with contextlib.suppress(RequestTimeout):
            run(brokers.admin.apply(plan))
        assert stop.asked > stop_at
        fan_out.before = fan_out.after = lambda name, command: None
        story.send()
        done = run(brokers.admin.apply(plan))
        story.send()
        for number in range(QUEUES):
            # A reader may have gone on: nothing may come to the queue that it has left.
            late = brokers.send(number, b"late", on="broker-a")
            assert late.code == ResponseCode.NOT_LEADER_FOR_QUEUE
        assert brokers.known() == done.brokers
        agreed(TOPIC, done.brokers)
        story.judge()
        with pytest.raises((RemoteAnswer, Misuse)):
            run(brokers.admin.apply(replace(plan, brokers=before)))
        assert brokers.known() == done.brokers
        # A queue that was moved can be moved again, and all brokers can die at once.
        brokers.move("broker-c")
        story.send()
        for name in NAMES:
            story.die(name, death)
        story.judge()
