import cython

@cython.final
cdef class StampSession:
    cdef readonly object channel
    cdef public long long count
    cdef readonly long long number
    cdef public long long wall_ms
