"""Ledger compares what one sender was told with what one reader has read, as it goes.

The sender numbers its messages and sends one after another to one queue; the reader reads that
queue.

    lost           acknowledged, and the reader is past its offset without having seen it
    out of order   seen behind one that was sent after it had been acknowledged
    twice          seen again: a send that was tried again because no answer came
"""


class Ledger:
    def __init__(self, start: int) -> None:
        """`start`: the offset at which the reader begins."""
        self.acknowledged = 0
        self.failed = 0
        self.read = 0
        self.out_of_order = 0
        self.twice = 0
        self._seen: set[int] = set()
        self._failed: set[int] = set()
        self._open: dict[int, int] = {}
        self._position = start
        self._highest = -1

    @property
    def lost(self) -> int:
        return sum(offset < self._position for offset in self._open.values())

    def on_acknowledged(self, number: int, offset: int) -> None:
        self.acknowledged += 1
        if number not in self._seen:
            self._open[number] = offset

    def on_failed(self, number: int) -> None:
        """No answer came in time: it may be stored or not."""
        self.failed += 1
        self._failed.add(number)

    def on_read(self, number: int, offset: int) -> None:
        self._position = offset + 1
        if number in self._seen:
            self.twice += 1
            return
        self._seen.add(number)
        self._open.pop(number, None)
        self.read += 1
        # One that failed may have been stored later than the next.
        self.out_of_order += number < self._highest and number not in self._failed
        self._highest = max(self._highest, number)
