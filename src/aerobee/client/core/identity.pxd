import cython

from aerobee.protocol.primitives.machine cimport address, byte, bytes_at

cdef int _TAIL_DIGITS
cdef int _COUNTER_MASK
cdef long long _ELAPSED_MASK
cdef long long _AHEAD_MS_END

@cython.final
cdef class UniqueIds:
    cdef int _counter
    cdef long long _last_ms
    cdef byte* _memory
    cdef object _view
    cdef readonly Py_ssize_t size

    cpdef str take(self, long long elapsed_ms)

    @cython.locals(last_ms="long long", value="long long", index=Py_ssize_t, digit=int)
    cpdef bytes take_bytes(self, long long elapsed_ms)
