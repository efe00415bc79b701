import cython

from aerobee.protocol.primitives.machine cimport address, byte, load_i32, load_i64, store_i32, store_i64

cdef Slot _NO_SLOT
cdef long long _TICK_MAX

@cython.final
cdef class Slot:
    cdef readonly long long first
    cdef readonly long long last
    cdef readonly long long time_ms
    cdef readonly int waiting

cdef class TimerWheel:
    cdef dict _changed
    cdef object _disk
    cdef object _file
    cdef dict _frozen
    cdef object _has_room
    cdef bint _is_name_new
    cdef byte* _memory
    cdef object _path
    cdef long long _precision_ms
    cdef long long _slot_count
    cdef object _view

    @cython.locals(found=Slot)
    cpdef Slot find(self, long long time_ms)

    cpdef Slot at_place_of(self, long long time_ms)

    @cython.locals(found=Slot, position=Py_ssize_t, tick="long long")
    cdef Slot _at(self, long long number)

    cpdef void put(self, Slot slot) except *
    cpdef void clear(self, long long time_ms) except *

    @cython.locals(memory="byte*")
    cdef void _write(self, Py_ssize_t position, Slot slot) except *
