import cython

from aerobee.protocol.message.received_message cimport ReceivedMessage

cdef class FlowLimits:
    cdef readonly long long bytes_max
    cdef readonly long long count_max
    cdef readonly long long span_max

cdef class ProcessQueue:
    cdef long long _committed
    cdef FlowLimits _limits
    cdef object _line
    cdef readonly Py_ssize_t count
    cdef readonly long long newest
    cdef readonly long long next_offset
    cdef readonly long long size

    @cython.locals(message=ReceivedMessage)
    cpdef void put(self, list messages, long long next_offset) except *

    cpdef bint settle(self, ReceivedMessage message) except -1

    @cython.locals(settled=list, message=ReceivedMessage)
    cpdef list settle_all(self, list messages)

    @cython.locals(head=ReceivedMessage)
    cdef void _let_go(self) except *

    @cython.locals(head=ReceivedMessage)
    cpdef long long oldest(self) except? -1

    @cython.locals(oldest=cython.longlong)
    cpdef long long commit_offset(self) except? -1

    @cython.locals(limits=FlowLimits)
    cpdef bint is_full(self) except -1
