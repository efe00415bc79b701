import cython

from aerobee.service.broker.log_access.redelivery cimport Redelivery
from aerobee.service.broker.timer.slot_walk cimport SlotWalk
from aerobee.storage.files.mapped_file cimport MappedFile
from aerobee.storage.read.record_reader cimport RecordReader
from aerobee.storage.timer.timer_log cimport TimerLog, UnitFields

cdef Py_ssize_t _STRETCH_BYTES_MAX

cdef class SlotDelivery:
    cdef MappedFile _file
    cdef TimerLog _log
    cdef object _timer_roll
    cdef RecordReader _records
    cdef Redelivery _redelivery
    cdef object _shifts
    cdef bytes _stamp
    cdef long long _stamp_ms
    cdef object _store
    cdef UnitFields _unit
    cdef long long _wall_ms
    cdef readonly long long bytes_done
    cdef readonly long long delivered
    cdef readonly long long gone
    cdef readonly set taken_back

    @cython.locals(unit=UnitFields, first="long long", end="long long")
    cpdef list cold_parts(self, list positions)

    cpdef void learn(self, long long position) except *

    @cython.locals(wall_ms="long long")
    cpdef void deliver(self, SlotWalk walk, Py_ssize_t count_max, long long bytes_max, object now) except *

    cdef void _look(self, long long position) except *

    @cython.locals(redelivery=Redelivery, file=MappedFile)
    cdef bint _read(self) except -1

    @cython.locals(redelivery=Redelivery, unit=UnitFields, is_rolled=bint)
    cdef void _deliver(self, long long wall_ms, object now) except *
