import cython

from aerobee.protocol.machine cimport byte

@cython.locals(rest="long long", end=Py_ssize_t)
cdef Py_ssize_t put_decimal(byte* memory, Py_ssize_t position, long long value) noexcept

@cython.locals(index=int, digit=int)
cdef Py_ssize_t put_hex(byte* memory, Py_ssize_t position, long long value) noexcept
