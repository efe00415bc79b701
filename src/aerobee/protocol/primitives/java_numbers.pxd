import cython

from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at

cdef long long _INT32_LEAST
cdef long long _INT32_LEAST_TENTH
cdef long long _INT64_LEAST
cdef long long _INT64_LEAST_TENTH

@cython.final
cdef class JavaNumber:
    cdef readonly double real
    cdef readonly long long whole

    @cython.locals(is_negative=bint, least="long long", tenth="long long", value="long long", digit=int)
    cdef bint read_whole(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, bint is_int32) noexcept

    cdef bint read_real(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) except -1

    @cython.locals(is_negative=bint, value="long long", digits=int, scale=double, has_point=bint, digit=int)
    cdef bint _read_short(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) except -1

    @cython.locals(memory="const byte*")
    cpdef bint read_text(self, bytes text, str type_) except -1

@cython.locals(position=Py_ssize_t, first=Py_ssize_t, digits=Py_ssize_t, last=int, name=bytes)
cdef Py_ssize_t end_of_real(const byte* memory, Py_ssize_t start, Py_ssize_t end) except? -2

cdef Py_ssize_t end_of_digits(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

cpdef int order_of_wholes(long long left, long long right) noexcept

cpdef int order_of_reals(double left, double right) except -2

cdef int _sign(double real) except 0
