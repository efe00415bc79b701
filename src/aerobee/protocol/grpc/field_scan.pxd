import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address

@cython.final
cdef class FieldScan:
    cdef Py_ssize_t _end
    cdef const byte* _memory
    cdef Py_ssize_t _position
    cdef readonly bint is_whole
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t stop
    cdef readonly long long tag
    cdef readonly long long value

    cdef void begin(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(tag="long long", wire=int, number="long long")
    cdef bint advance(self) noexcept

    @cython.locals(value="long long", shift=int, byte="long long")
    cdef long long _number(self) noexcept

cdef Py_ssize_t put_number(byte* memory, Py_ssize_t position, long long value) noexcept

@cython.locals(index=Py_ssize_t, byte=int)
cdef bint is_printable(const byte* memory, Py_ssize_t start, Py_ssize_t stop, int least) noexcept
