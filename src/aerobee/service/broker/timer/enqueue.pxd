import cython

from aerobee.protocol.primitives.java_hash cimport signed32, text_hash
from aerobee.protocol.primitives.machine cimport address, byte
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.message.waiting_properties cimport WaitingProperties
from aerobee.service.broker.timer.tick_scale cimport TickScale
from aerobee.storage.timer.timer_log cimport TimerLog, UnitFields
from aerobee.storage.timer.timer_wheel cimport Slot, TimerWheel

cdef long long _NEVER_MS
cdef long long _DELAYED_MS_MAX
cdef long long _DOUBT_MS

cdef class Enqueue:
    cdef long long _done_before_ms
    cdef long long _done_to
    cdef long long _lowest_ms
    cdef object _reader
    cdef Record _record
    cdef TickScale _scale
    cdef object _store
    cdef WaitingProperties _text
    cdef TimerLog _timer_log
    cdef UnitFields _unit
    cdef TimerWheel _wheel
    cdef readonly bint is_blocked
    cdef readonly long long offset

    @cython.locals(record=Record, memory="byte*", position=Py_ssize_t, end=Py_ssize_t, outcome=int)
    cdef bint _take_all(self, object view, long long read_ms, long long over_ms) except -1

    @cython.locals(
        record=Record, text=WaitingProperties, written_ms="long long", slot_ms="long long", is_rolled=bint,
        doubt_ms="long long", slot=Slot, other_ms="long long", magic=int, topic_hash=int,
    )
    cdef bint _take(self, const byte* memory, long long read_ms, long long over_ms) except -1

    @cython.locals(log=TimerLog, record=Record, next_position="long long", position="long long", weight=int)
    cdef void _add(self, long long slot_ms, Slot slot, int magic, long long written_ms, int topic_hash) except *
