import cython

from aerobee.protocol.grpc.field_scan cimport put_number
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, bytes_at, copy_bytes, load_i32, same_bytes,
)
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer
from aerobee.protocol.text.json_machine cimport is_utf8

cdef Py_ssize_t _FRONT_BYTES
cdef Py_ssize_t _HOSTS_AT
cdef Py_ssize_t _HEAD_BYTES_MAX
cdef long long _MS_MAX

@cython.final
cdef class DeliveredRecord:
    cdef byte* _handle
    cdef Py_ssize_t _handle_size
    cdef object _handle_view
    cdef Py_ssize_t _host_size
    cdef Py_ssize_t _host_start
    cdef Py_ssize_t _id_size
    cdef Py_ssize_t _id_start
    cdef Py_ssize_t _keys_size
    cdef Py_ssize_t _keys_start
    cdef const byte* _memory
    cdef ReplyBuffer _output
    cdef Record _record
    cdef ReplyBuffer _system
    cdef Py_ssize_t _tag_size
    cdef Py_ssize_t _tag_start
    cdef object _view

    @cython.locals(record=Record, memory="const byte*", start=Py_ssize_t, size=Py_ssize_t)
    cpdef bint read(self, object view, Py_ssize_t position, bytes head, int queue_id) except? -1
    cpdef Py_ssize_t end(self) noexcept
    cpdef long long queue_offset(self) noexcept
    cpdef str tag(self)
    cpdef str message_id(self)
    cpdef str handle(self)

    @cython.locals(memory="const byte*", start=Py_ssize_t, size=Py_ssize_t, value=Py_ssize_t)
    cdef bint _read_properties(self, Py_ssize_t position, Py_ssize_t end) except? -1

    @cython.locals(memory="const byte*", first=int)
    cdef bint _take_property(self, Py_ssize_t start, Py_ssize_t size, Py_ssize_t value, Py_ssize_t value_size) except? -1

    @cython.locals(output=ReplyBuffer, memory="byte*", at=Py_ssize_t, inner=Py_ssize_t)
    cdef void _put_pair(self, Py_ssize_t start, Py_ssize_t size, Py_ssize_t value, Py_ssize_t value_size) except *

    @cython.locals(record=Record, system=ReplyBuffer, output=ReplyBuffer, size=Py_ssize_t, memory="byte*", at=Py_ssize_t, body=Py_ssize_t, inner=Py_ssize_t, start=Py_ssize_t, front=bytes)
    cpdef bytes message(self, bytes topic)

    @cython.locals(record=Record, system=ReplyBuffer, texts=Py_ssize_t, memory="byte*", at=Py_ssize_t, digest=bytes)
    cdef void _write_system(self) except *

    @cython.locals(source="const byte*", position=Py_ssize_t, end=Py_ssize_t, start=Py_ssize_t)
    cdef Py_ssize_t _put_keys(self, byte* memory, Py_ssize_t at) noexcept

@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _number_bytes(long long value) noexcept
cdef Py_ssize_t _put_sized(byte* memory, Py_ssize_t at, int tag, const byte* source, Py_ssize_t start, Py_ssize_t size) noexcept

@cython.locals(seconds="long long", nanos="long long", start=Py_ssize_t)
cdef Py_ssize_t _put_time(byte* memory, Py_ssize_t at, int tag, long long ms) noexcept

@cython.locals(text=Py_ssize_t, index=int)
cdef Py_ssize_t _put_host(byte* memory, Py_ssize_t at, int tag, const byte* source, Py_ssize_t start) noexcept
