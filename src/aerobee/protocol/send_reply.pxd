import cython

from aerobee.protocol.machine cimport byte, bytes_address, copy_bytes, store_i32
from aerobee.protocol.reply_buffer cimport ReplyBuffer

cdef class SendReply:
    cdef Py_ssize_t _fixed_size
    cdef bytes _host_hex
    cdef bytes _part_1
    cdef bytes _part_2
    cdef bytes _part_3
    cdef bytes _part_4
    cdef bytes _part_5
    cdef bytes _part_6

    @cython.locals(memory="byte*", start=Py_ssize_t, at=Py_ssize_t)
    cdef bint write(
        self, ReplyBuffer output, int opaque, int queue_id, long long queue_offset,
        long long log_offset, const byte* unique, Py_ssize_t unique_start, Py_ssize_t unique_size,
    ) except? 0

@cython.locals(position=Py_ssize_t, end=Py_ssize_t, character=int)
cdef bint is_plain(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept

@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t put_bytes(byte* memory, Py_ssize_t position, bytes data) noexcept

@cython.locals(size=Py_ssize_t, rest="long long", at=Py_ssize_t)
cdef Py_ssize_t put_number(byte* memory, Py_ssize_t position, long long value) noexcept

@cython.locals(at=Py_ssize_t, digit=int)
cdef Py_ssize_t put_hex64(byte* memory, Py_ssize_t position, long long value) noexcept
