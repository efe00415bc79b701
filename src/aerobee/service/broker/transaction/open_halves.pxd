import cython

@cython.final
cdef class Half:
    cdef public long long due_ms
    cdef public tuple earlier
    cdef readonly long long expiry_ms
    cdef readonly str group
    cdef public bint is_waiting
    cdef public long long offset
    cdef public int times

@cython.final
cdef class OpenHalves:
    cdef dict _at
    cdef dict _halves
    cdef list _heap
    cdef object _waiting

    cpdef Half find(self, long long offset)

    cpdef void add(self, Half half, long long due_ms) except *

    cpdef void remove(self, Half half) except *

    cpdef void postpone(self, Half half, long long due_ms) except *

    cdef void _stop_waiting(self, Half half) except *
