"""SlotWalk finds the units of one slot of the wheel by following their chain backwards, in parts.

A slot may have millions. Only their positions are kept, eight bytes each, until the slot is
delivered. Recall units count wherever in the slot they are.
"""

from array import array
from typing import TYPE_CHECKING

from aerobee.errors import AerobeeError
from aerobee.storage.timer.timer_log import TimerLog, UnitFields
from aerobee.storage.timer.timer_wheel import Slot

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython


def is_compiled() -> bool:
    return cython.compiled


class TimerDamaged(AerobeeError):
    """Wheel and log contradict each other: they have to be built again."""


class SlotWalk:
    """The units of one slot. `deletes` are the positions of recall units. `was_cut`: older units
    are gone, and with them messages that were never delivered."""

    __slots__ = (
        "_found",
        "_log",
        "_next",
        "_slot",
        "_unit",
        "deletes",
        "is_over",
        "left",
        "was_cut",
    )

    def __init__(self, log: TimerLog, slot: Slot) -> None:
        self._log = log
        self._slot = slot
        self._next = slot.last
        self._unit = UnitFields()
        # Positions, newest first: units to be delivered or rolled, and recall units.
        self._found: array[int] = array("q")
        self.deletes: array[int] = array("q")
        # Number of units of `_found` that are not delivered yet.
        self.left = 0
        self.is_over = False
        self.was_cut = False

    @property
    def time_ms(self) -> int:
        return self._slot.time_ms

    @property
    def last(self) -> int:
        return self._slot.last

    def step(self, count_max: int) -> int:
        """Follow the chain over at most `count_max` units; returns their number. TimerDamaged: the
        chain is broken."""
        count = 0
        log = self._log
        unit = self._unit
        slot = self._slot
        position = self._next
        first_position = log.first_position
        while count < count_max:
            if position < first_position:
                self.is_over = True
                self.left = len(self._found)
                self.was_cut = position >= slot.first
                break
            if (
                position >= log.end
                or not log.look(position, unit)
                or unit.previous >= position
                or unit.enqueue_ms + unit.delayed_ms != slot.time_ms
            ):
                raise TimerDamaged(
                    f"the slot of {slot.time_ms} leads to position {position} of the timer log, "
                    f"where there is no unit of it"
                )
            if unit.magic & 6 == 4:  # a rolled one recalls later
                self.deletes.append(position)
            elif position >= slot.first:
                self._found.append(position)
            position = unit.previous
            count += 1
        self._next = position
        return count

    # Once it is over.

    def position(self, index: int) -> int:
        """The position of the index-th unit of those that are left, oldest first."""
        found: int = self._found[self.left - 1 - index]
        return found

    def take(self, count: int) -> None:
        """The next `count` units are delivered."""
        self.left -= count

    def progress(self) -> Slot:
        """The slot with the units that are left."""
        slot = self._slot
        if not self.is_over:
            return slot
        first = self.position(0) if self.left else slot.last + 1
        return Slot(slot.time_ms, first, slot.last, self.left)
