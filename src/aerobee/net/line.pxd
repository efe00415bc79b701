import cython

from aerobee.net.waiter cimport Waiter
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.primitives.machine cimport load_i32
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

cdef int _OPAQUE_MASK
cdef Py_ssize_t _GATHERED_BYTES_MAX
cdef Py_ssize_t _KEPT_BYTES_MAX
cdef double _NEVER

cdef class Line:
    cdef object _asked
    cdef object _check
    cdef object _drained
    cdef double _earliest
    cdef FrameReader _frames
    cdef bint _is_ending
    cdef bint _is_flushing
    cdef bint _is_heard
    cdef object _loop
    cdef int _opaque
    cdef object _transport
    cdef dict _waiting
    cdef readonly object address
    cdef readonly ReplyBuffer output

    cpdef bint can_take(self) noexcept

    @cython.locals(size=Py_ssize_t)
    cpdef void tell(self, object command) except *
    cpdef int next_opaque(self) except? -1
    cpdef void written(self) except *
    cpdef void wait(self, int opaque, Waiter waiter) except *
    cpdef void close(self) except *
    cdef void _flush(self) except *

    @cython.locals(now=double, waiter=Waiter)
    cdef void _end_late(self, double now) except *

    @cython.locals(frames=FrameReader)
    cpdef void data_received(self, object data) except *

    @cython.locals(opaque=int, waiter=Waiter)
    cdef bint _took(self, FrameReader frames) except? -1

    cdef void _handle(self, object command) except *
