import cython

from aerobee.protocol.http2.huffman cimport decode_huffman
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at

@cython.final
cdef class HeaderDecoder:
    cdef Py_ssize_t _end
    cdef Py_ssize_t _fields_bytes_max
    cdef const byte* _memory
    cdef Py_ssize_t _position
    cdef Py_ssize_t _size
    cdef Py_ssize_t _size_max
    cdef object _table
    cdef readonly long long changes

    @cython.locals(fields=list, total=Py_ssize_t, byte=int, field=tuple)
    cpdef list decode(self, bytes block)

    @cython.locals(index=Py_ssize_t, name=str, field=tuple)
    cdef tuple _literal(self, bint is_kept)

    @cython.locals(mask=Py_ssize_t, number=Py_ssize_t, shift=int, byte=Py_ssize_t)
    cdef Py_ssize_t _integer(self, int bits) except -1

    @cython.locals(is_coded=int, size=Py_ssize_t, start=Py_ssize_t, data=bytes)
    cdef str _text(self)

    cdef tuple _field(self, Py_ssize_t index)
    cdef void _keep(self, tuple field) except *
