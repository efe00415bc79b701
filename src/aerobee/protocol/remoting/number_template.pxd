import cython

from aerobee.protocol.text.json_machine cimport NO_NUMBER, is_bare_integer, number_end, parse_decimal, plain_end
from aerobee.protocol.primitives.machine cimport byte, bytes_address, same_bytes

@cython.final
cdef class NumberTemplate:
    cdef bytes _bytes
    cdef int _count
    cdef Py_ssize_t _ends[12]
    cdef long long _numbers[12]
    cdef Py_ssize_t _starts[12]
    cdef int _texts

    @cython.locals(known="const byte*", position=Py_ssize_t, run_start=Py_ssize_t, index=int, run_size=Py_ssize_t, stop=Py_ssize_t, number="long long")
    cdef bint match(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

    cpdef long long number(self, int index) noexcept
