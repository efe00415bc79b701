"""The units of one slot of the wheel, found by going back along their chain, a part at a time.

A slot may hold millions. Kept are their positions, eight bytes each, and no longer than until the
slot is delivered. Units that take a message back count wherever in the slot they stand.
"""

from array import array

from aerobee.errors import AerobeeError
from aerobee.storage.timer.timer_log import DELETE, ROLL, TimerLog
from aerobee.storage.timer.timer_wheel import Slot


class TimerDamaged(AerobeeError):
    """Wheel and log do not fit together: they are to be built again."""


class SlotWalk:
    def __init__(self, log: TimerLog, slot: Slot) -> None:
        self._log = log
        self._slot = slot
        self._next = slot.last
        # Newest first: what is to be delivered or put back, and what takes back.
        self._found: array[int] = array("q")
        self.deletes: array[int] = array("q")
        self.is_over = False
        self.was_cut = False
        """Older units are gone, and with them messages that were never delivered."""

    @property
    def time_ms(self) -> int:
        return self._slot.time_ms

    @property
    def last(self) -> int:
        return self._slot.last

    def step(self, count_max: int) -> int:
        """Go back along so many units, or fewer: how many. TimerDamaged: the chain is broken."""
        count = 0
        log, slot, position = self._log, self._slot, self._next
        first_position, end = log.first_position, log.end
        while count < count_max:
            if position < first_position:
                self.is_over = True
                self.was_cut = position >= slot.first
                break
            unit = log.unit(position) if position < end else None
            if unit is None or unit.previous >= position or unit.time_ms != slot.time_ms:
                raise TimerDamaged(
                    f"the slot of {slot.time_ms} leads to position {position} of the timer log, "
                    f"where there is no unit of it"
                )
            if unit.magic & DELETE and not unit.magic & ROLL:
                self.deletes.append(position)
            elif position >= slot.first:
                self._found.append(position)
            position = unit.previous
            count += 1
        self._next = position
        return count

    # Once it is over.

    @property
    def left(self) -> int:
        """How many units were not taken yet."""
        return len(self._found)

    def positions(self, count_max: int) -> list[int]:
        """The next so many, in the order in which they came."""
        return list(self._found[: -count_max - 1 : -1])

    def take(self, count: int) -> None:
        """So many are done with."""
        if count:
            del self._found[-count:]

    def progress(self) -> Slot:
        """The slot without what is done with."""
        slot = self._slot
        if not self.is_over:
            return slot
        first = self._found[-1] if self._found else slot.last + 1
        return slot._replace(first=first, waiting=len(self._found))
