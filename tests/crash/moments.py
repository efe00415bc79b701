"""A broker's story stopped at every moment: killed, and what a power cut can leave.

story.run()      yields at each moment; `story.kit` is the broker as it is then
judge            goes on with what is left; whether that has to be all that was acknowledged
"""

from collections.abc import Iterator
from typing import Protocol, TypeVar

from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode
from tests.broker_kit import BrokerKit


class Story(Protocol):
    kit: BrokerKit

    def run(self) -> Iterator[str]: ...


S = TypeVar("S", bound=Story, contravariant=True)


class Judge(Protocol[S]):
    def __call__(self, story: S, survivor: SimDisk, *, has_all: bool) -> None: ...


def judge_every_moment(story: S, judge: Judge[S], mode: FlushMode, share: float) -> int:
    """How many moments there were; `share` of the states that a cut can leave at each are drawn."""
    moments = 0
    for moment in story.run():
        moments += 1
        try:
            judge(story, story.kit.disk.kill(), has_all=True)
            for survivor in story.kit.disk.crash_states(1, moments, share):
                judge(story, survivor, has_all=mode is FlushMode.SYNC)
        except AssertionError as error:
            raise AssertionError(f"{mode}, {moment}: {error}") from error
    return moments
