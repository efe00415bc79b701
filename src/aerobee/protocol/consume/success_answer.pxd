import cython

from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.primitives.machine cimport byte, bytes_address, copy_bytes, store_i32
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

@cython.final
cdef class SuccessAnswer:
    cdef bytes _head
    cdef bytes _tail

    @cython.locals(
        head_size=Py_ssize_t, tail_size=Py_ssize_t, memory="byte*", start=Py_ssize_t,
        position=Py_ssize_t,
    )
    cpdef void put(self, ReplyBuffer output, int opaque) except *
