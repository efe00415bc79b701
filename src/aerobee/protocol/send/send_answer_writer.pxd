import cython

from aerobee.protocol.primitives.digits cimport put_base64, put_decimal, put_hex
from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, copy_bytes, store_i32
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

@cython.final
cdef class SendAnswerWriter:
    cdef bytes _binary_head
    cdef byte* _handle
    cdef Py_ssize_t _handle_size
    cdef object _handle_view
    cdef bytes _id_head
    cdef Py_ssize_t _ids_start
    cdef bint _is_binary
    cdef bytes _json_head
    cdef bytes _json_tail
    cdef ReplyBuffer _output
    cdef Py_ssize_t _start

    @cython.locals(handle="byte*", position=Py_ssize_t)
    cdef void begin_handle(self, bytes broker, bytes topic, long long deliver_ms, const byte* memory, Py_ssize_t at, Py_ssize_t size) noexcept

    @cython.locals(head=bytes, room=Py_ssize_t)
    cpdef void begin(self, ReplyBuffer output, bint is_binary, int id_count, Py_ssize_t sender_size) except *

    @cython.locals(output=ReplyBuffer)
    cpdef void add_id(self, long long log_offset) noexcept

    @cython.locals(output=ReplyBuffer, header_size=Py_ssize_t)
    cdef void end(self, int opaque, int queue_id, long long queue_offset, const byte* memory, Py_ssize_t at, Py_ssize_t size) noexcept

    @cython.locals(output=ReplyBuffer, start=Py_ssize_t)
    cdef void _end_binary(self, int opaque, int queue_id, long long queue_offset, const byte* memory, Py_ssize_t at, Py_ssize_t size) noexcept

    @cython.locals(output=ReplyBuffer)
    cdef void _put_handle(self) noexcept

    @cython.locals(output=ReplyBuffer, end=Py_ssize_t)
    cdef void _put_number(self, long long value) noexcept

    @cython.locals(output=ReplyBuffer)
    cdef void _put(self, bytes text) noexcept
