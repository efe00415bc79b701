import cython

from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.text.json_machine cimport NO_NUMBER, is_utf8, parse_decimal
from aerobee.protocol.primitives.machine cimport (
    byte, bytes_address, bytes_at, load_i16, load_i32, same_bytes,
)

cdef int _KEY_BYTES_MAX
cdef int _FIELDS_MAX
cdef int _VALUE_BYTES_MAX

@cython.final
cdef class SendAnswerReader:
    cdef int _seen
    cdef readonly int code
    cdef readonly bytes ids
    cdef readonly int queue_id
    cdef readonly long long queue_offset

    @cython.locals(memory="const byte*", position=Py_ssize_t, end=Py_ssize_t, _=int)
    cpdef bint read(self, FrameReader frames) except? -1

    @cython.locals(size=Py_ssize_t, start=Py_ssize_t, value_start=Py_ssize_t, value_size=Py_ssize_t, value_end=Py_ssize_t, bit=int)
    cdef Py_ssize_t _read_field(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) except? -2

    cdef Py_ssize_t _take_ids(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) except? -2

    @cython.locals(number="long long")
    cdef Py_ssize_t _take_number(self, int bit, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

cdef int _plain_field(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept
