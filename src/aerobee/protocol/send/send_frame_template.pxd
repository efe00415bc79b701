import cython

from aerobee.protocol.remoting.command_header cimport CommandHeader
from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.remoting.header_binary cimport encode_binary_header
from aerobee.protocol.primitives.machine cimport byte, bytes_address, copy_bytes, store_i16, store_i32
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

cdef long long _BORN_MIN
cdef long long _BORN_END
cdef int _BINARY
cdef bytes _ID_NAME
cdef Py_ssize_t _PROPERTIES_BYTES_MAX
cdef Py_ssize_t _ENTRY_BYTES

@cython.final
cdef class SendFrameTemplate:
    cdef Py_ssize_t _born_at
    cdef bytes _head
    cdef bytes _properties

    @cython.locals(size=Py_ssize_t)
    cpdef void put(self, ReplyBuffer output, int opaque, long long born_ms, bytes message_id, bytes properties, bytes body) except *

    @cython.locals(head_size=Py_ssize_t, start=Py_ssize_t, header_size=Py_ssize_t)
    cpdef void begin(self, ReplyBuffer output, int opaque, long long born_ms, Py_ssize_t properties_size, Py_ssize_t body_size) except *

    @cython.locals(size=Py_ssize_t, body=object, count=Py_ssize_t, properties_size=Py_ssize_t, text_size_max=Py_ssize_t, text=object)
    cpdef Py_ssize_t batch_size(self, list bodies, list texts, Py_ssize_t text_size, Py_ssize_t id_size) except? -1

    @cython.locals(own_size=Py_ssize_t, properties_size=Py_ssize_t, start=Py_ssize_t, memory="byte*")
    cpdef void put_entry(self, ReplyBuffer output, bytes message_id, bytes properties, bytes body) except *

    cdef void _put_properties(self, ReplyBuffer output, bytes message_id, bytes properties) noexcept

@cython.locals(ends=list, size=Py_ssize_t, start=Py_ssize_t, index=Py_ssize_t, body=object, properties_size=Py_ssize_t, entry=Py_ssize_t)
cpdef list cut_batch(list bodies, list texts, Py_ssize_t each, Py_ssize_t bytes_max, Py_ssize_t count_max)

cdef void _put(ReplyBuffer output, bytes text) noexcept
