import cython

from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.text.json_machine cimport (
    NO_NUMBER, bare_int32, name_end, number_end, parse_decimal, plain_end,
)
from aerobee.protocol.primitives.machine cimport byte, bytes_address, load_i16, load_i32, same_bytes
from aerobee.protocol.send.send_machine cimport top_name

@cython.final
cdef class EndTransactionReader:
    cdef int _flag
    cdef unsigned int _seen
    cdef readonly Py_ssize_t group_size
    cdef readonly Py_ssize_t group_start
    cdef readonly long long log_offset
    cdef readonly int outcome
    cdef readonly long long queue_offset

    @cython.locals(memory="const byte*", start=Py_ssize_t, end=Py_ssize_t)
    cpdef bint read(self, FrameReader frames) noexcept

    @cython.locals(position=Py_ssize_t)
    cdef bint _read_json(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

    @cython.locals(stop=Py_ssize_t, name=int, bit="unsigned int", number="long long")
    cdef Py_ssize_t _read_top(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(start=Py_ssize_t, stop=Py_ssize_t)
    cdef Py_ssize_t _read_fields(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(start=Py_ssize_t, name_size=Py_ssize_t, value=Py_ssize_t, size=Py_ssize_t)
    cdef bint _read_binary(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(name=int, bit="unsigned int", number="long long")
    cdef bint _take(self, const byte* memory, Py_ssize_t start, Py_ssize_t name_size, Py_ssize_t value, Py_ssize_t stop) noexcept

@cython.locals(stop=Py_ssize_t)
cdef Py_ssize_t _string_end(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept
cdef int _field_name(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept
