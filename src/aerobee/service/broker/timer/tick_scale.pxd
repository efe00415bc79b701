import cython

cdef class TickScale:
    cdef readonly long long precision_ms
    cdef readonly long long window_ms

    cpdef long long floor(self, long long time_ms) except? -1
    cpdef long long ceiling(self, long long time_ms) except? -1
    cpdef long long out_ms(self, long long deliver_ms) except? -1
    cpdef bint is_beyond(self, long long out_ms, long long written_ms)

    @cython.locals(window_ms="long long", beyond_ms="long long", step_ms="long long")
    cpdef long long slot_ms(self, long long out_ms, long long written_ms) except? -1
