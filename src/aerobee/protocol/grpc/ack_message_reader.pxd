import cython

from aerobee.protocol.grpc.field_scan cimport FieldScan, is_printable, put_number
from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, bytes_at, copy_bytes, same_bytes,
)

cdef Py_ssize_t _TEXT_BYTES_MAX
cdef Py_ssize_t _DIGITS_MAX
cdef long long _INT32_MAX
cdef bytes _OK
cdef Py_ssize_t _OK_BYTES
cdef Py_ssize_t _ANSWER_BYTES_MAX

@cython.final
cdef class AckMessageReader:
    cdef object _answer_view
    cdef FieldScan _entry
    cdef Py_ssize_t _handle_size
    cdef Py_ssize_t _handle_start
    cdef Py_ssize_t _id_size
    cdef Py_ssize_t _id_start
    cdef const byte* _memory
    cdef bytes _message
    cdef Py_ssize_t _position
    cdef FieldScan _scan
    cdef byte* answer_memory
    cdef Py_ssize_t answer_start
    cdef readonly bytes broker_name
    cdef readonly bytes group
    cdef readonly long long invisible_ms
    cdef readonly long long pop_time
    cdef readonly long long queue_id
    cdef readonly long long queue_offset
    cdef readonly long long revive_queue
    cdef readonly long long start_offset
    cdef readonly bytes topic

    cpdef bint read(self, bytes message) except? -1

    @cython.locals(scan=FieldScan)
    cpdef bint read_at(self, bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
    cpdef str message_id(self)

    @cython.locals(entry=FieldScan)
    cdef bint _find_name(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    @cython.locals(entry=FieldScan)
    cdef bytes _named(self, bytes before)
    cdef bytes _text(self, Py_ssize_t start, Py_ssize_t size, bytes before)

    @cython.locals(entry=FieldScan)
    cdef bint _read_entry(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    @cython.locals(memory="const byte*", end=Py_ssize_t, start=Py_ssize_t, at=Py_ssize_t)
    cdef bint _read_handle(self) except? -1

    @cython.locals(at=Py_ssize_t, value="long long", is_number=bint)
    cdef long long _number(self, Py_ssize_t end) noexcept

    cpdef bytes answer(self)

    @cython.locals(memory="byte*", start=Py_ssize_t, at=Py_ssize_t, size=Py_ssize_t, first=Py_ssize_t)
    cdef Py_ssize_t write_answer(self) noexcept

    @cython.locals(memory="byte*")
    cdef Py_ssize_t _put(self, int tag, Py_ssize_t at, Py_ssize_t start, Py_ssize_t size) noexcept
