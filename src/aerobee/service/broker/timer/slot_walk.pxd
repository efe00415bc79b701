import cython

from aerobee.storage.timer.timer_log cimport TimerLog, UnitFields
from aerobee.storage.timer.timer_wheel cimport Slot

cdef class SlotWalk:
    cdef object _found
    cdef TimerLog _log
    cdef long long _next
    cdef Slot _slot
    cdef UnitFields _unit
    cdef readonly object deletes
    cdef readonly bint is_over
    cdef readonly Py_ssize_t left
    cdef readonly bint was_cut

    @cython.locals(count=Py_ssize_t, log=TimerLog, unit=UnitFields, slot=Slot, position="long long", first_position="long long")
    cpdef Py_ssize_t step(self, Py_ssize_t count_max) except -1

    @cython.locals(found="long long")
    cpdef long long position(self, Py_ssize_t index) except -1

    cpdef void take(self, Py_ssize_t count) except *
