import cython

from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.primitives.machine cimport byte, bytes_address, copy_bytes, store_i32
from aerobee.protocol.remoting.number_template cimport NumberTemplate
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

cpdef bint matches(NumberTemplate template, FrameReader frames) noexcept

@cython.final
cdef class PullAnswer:
    cdef ReplyBuffer _output
    cdef Py_ssize_t _start
    cdef bytes _tail

    cpdef void begin(self, ReplyBuffer output) except *
    cpdef void undo(self) noexcept

    @cython.locals(output=ReplyBuffer, body_end=Py_ssize_t, body_start=Py_ssize_t)
    cpdef void end(self, int opaque, long long next_offset, long long min_offset, long long max_offset, int topic_sys_flag, int group_sys_flag) noexcept

    @cython.locals(output=ReplyBuffer)
    cdef void _put(self, bytes text) noexcept

    cdef void _put_number(self, long long value) noexcept
