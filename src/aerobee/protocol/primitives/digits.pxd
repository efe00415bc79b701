import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address

cdef bytes _BASE64

@cython.locals(rest="long long", end=Py_ssize_t)
cdef Py_ssize_t put_decimal(byte* memory, Py_ssize_t position, long long value) noexcept

@cython.locals(index=int, digit=int)
cdef Py_ssize_t put_hex(byte* memory, Py_ssize_t position, long long value) noexcept

@cython.locals(letters="const byte*", start=Py_ssize_t, word=int)
cdef Py_ssize_t put_base64(byte* memory, Py_ssize_t position, const byte* source, Py_ssize_t size) noexcept
