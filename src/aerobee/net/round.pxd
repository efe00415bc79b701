from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

cdef class Round:
    cdef object _begin
    cdef public long long begun_bytes
    cdef readonly bint is_begun
    cdef readonly long long monotonic_ms
    cdef readonly object now
    cdef readonly ReplyBuffer output
    cdef public object reader
    cdef public long long strange_bytes

    cpdef void begin(self) except *
    cpdef void end(self) noexcept
