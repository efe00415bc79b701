import cython

from aerobee.protocol.primitives.machine cimport address, byte, bytes_at

cdef unsigned int _ALL_BITS
cdef unsigned int _SIGN_BIT
cdef long long _ONE_TURN

@cython.locals(value="unsigned int", end=Py_ssize_t, index=Py_ssize_t)
cdef unsigned int text_hash(const byte* memory, Py_ssize_t position, Py_ssize_t size, unsigned int start) except? 0xFFFFFFFF

@cython.locals(value="unsigned int", index=Py_ssize_t)
cdef unsigned int _wide_hash(bytes text, unsigned int start) except? 0xFFFFFFFF

cpdef int signed32(unsigned int value)
cpdef long long tag_code(bytes tag) except? -1
