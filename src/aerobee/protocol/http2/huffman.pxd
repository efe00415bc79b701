import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address, load_i16

cdef bytes _STEPS

@cython.locals(
    out=bytearray, state=int, steps="const byte*", memory="const byte*", index=Py_ssize_t, byte=int,
    at=Py_ssize_t, symbol=int,
)
cpdef bytes decode_huffman(bytes data)

@cython.locals(state=int, steps="const byte*", index=Py_ssize_t, byte=int)
cdef bint is_huffman(const byte* memory, Py_ssize_t start, Py_ssize_t stop) except -1
