import cython

@cython.final
cdef class QueueProgress:
    cdef long long _end
    cdef set _open
    cdef object _ops
    cdef object _order
    cdef object _unsafe
    cdef readonly long long op_offset

    cpdef void opened(self, long long offset) except *
