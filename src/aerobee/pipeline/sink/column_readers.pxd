import cython

from aerobee.pipeline.arrow.column_machine cimport get_bit, get_i32, get_i64
from aerobee.protocol.primitives.machine cimport address, byte

cdef Py_ssize_t _MISSING
cdef Py_ssize_t _BROKEN

cdef class TextColumn:
    cdef Py_ssize_t _data_size
    cdef object _data_view
    cdef Py_ssize_t _first
    cdef byte* _offsets
    cdef object _offsets_view
    cdef byte* _validity
    cdef object _validity_view
    cdef byte* data
    cdef readonly Py_ssize_t rows
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t start

    @cython.locals(index=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t find(self, Py_ssize_t row) noexcept

cdef class NumberColumn:
    cdef Py_ssize_t _first
    cdef byte* _validity
    cdef object _validity_view
    cdef byte* _values
    cdef object _values_view
    cdef int _width
    cdef readonly Py_ssize_t rows

    cdef bint is_there(self, Py_ssize_t row) noexcept

    @cython.locals(index=Py_ssize_t)
    cdef long long value(self, Py_ssize_t row) noexcept
