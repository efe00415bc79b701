"""Pops by the short way: a consumer whose pops are counted by the way that they went."""

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.pop.take.fast_pop import FastPop
from aerobee.storage.config import StorageConfig
from tests.broker_kit import STORAGE
from tests.pop_kit import Got, PopKit, got_in


class ShortPopRig:
    def __init__(self, queues: int = 1, count: int = 60, storage: StorageConfig = STORAGE) -> None:
        self.kit = PopKit(queues=queues, storage=storage)
        for queue_id in range(queues):
            self.kit.fill(count, queue_id)

    @property
    def plain(self) -> FastPop:
        return self.kit.broker._pop_fast_path.pops  # type: ignore[attr-defined,no-any-return]

    def ask(self, **other: object) -> tuple[bool, RemotingCommand]:
        """Whether a pop went the short way, and its answer."""
        before = self.plain.answered
        answer = self.kit.ask(200050, self.kit.fields(**{"maxMsgNums": 4, **other}))
        return self.plain.answered > before, answer

    def pop(self, **other: object) -> list[Got] | None:
        """What it got by the short way; None: it went another."""
        is_short, answer = self.ask(**other)
        return got_in(answer) if is_short else None

    def offsets(self, **other: object) -> list[int] | None:
        got = self.pop(**other)
        return None if got is None else [one.message.queue_offset for one in got]
