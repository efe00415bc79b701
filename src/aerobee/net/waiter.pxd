from aerobee.protocol.remoting.frame cimport FrameReader

cdef class Waiter:
    cdef readonly object answer
    cdef readonly double deadline
    cdef readonly bint is_fast

    cpdef bint take(self, FrameReader frames) except? -1
    cpdef void end(self, object command) except *
    cpdef void fail(self, object error) except *
