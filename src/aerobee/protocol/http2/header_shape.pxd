import cython

from aerobee.protocol.http2.huffman cimport is_huffman
from aerobee.protocol.primitives.machine cimport byte, bytes_address, same_bytes

cdef Py_ssize_t _VALUE_BYTES_MAX
cdef int _PARTS_MAX

@cython.final
cdef class HeaderShape:
    cdef bytes _block
    cdef Py_ssize_t _ends[9]
    cdef int _parts
    cdef Py_ssize_t _starts[9]
    cdef readonly list fields
    cdef public object owner
    cdef readonly str path
    cdef readonly long long table

    cpdef bint learn(self, Py_ssize_t fields_bytes_max) except -1
    cdef void _add_part(self, Py_ssize_t start, Py_ssize_t end) noexcept

    @cython.locals(block="const byte*", last=int, index=int, start=Py_ssize_t, size=Py_ssize_t)
    cdef bint matches(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) except -1
    cpdef bint recognises(self, bytes block) except -1
