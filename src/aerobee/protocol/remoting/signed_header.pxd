import cython

from aerobee.protocol.primitives.hmac_machine cimport is_same_text, prepare_key, put_hmac
from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, copy_bytes, load_i16, load_i32, same_bytes,
)
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.text.json_machine cimport (
    NO_NUMBER, bare_int32, escaped_unit, is_bare_integer, is_utf8, name_end, number_end,
    parse_decimal, plain_end, put_character,
)

cdef Py_ssize_t _TEXT_BYTES_MAX

@cython.final
cdef class SigningKey:
    cdef object prepared

@cython.final
cdef class SignedHeader:
    cdef int _count
    cdef object _digest
    cdef FrameReader _frames
    cdef unsigned long long _has_escapes
    cdef bint _is_gathered
    cdef Py_ssize_t _name_sizes[32]
    cdef Py_ssize_t _name_starts[32]
    cdef int _order[32]
    cdef int _order_count
    cdef Py_ssize_t _said_end
    cdef Py_ssize_t _said_start
    cdef Py_ssize_t _stamp_start
    cdef object _text
    cdef Py_ssize_t _text_size
    cdef Py_ssize_t _user_end
    cdef Py_ssize_t _user_start
    cdef Py_ssize_t _value_ends[32]
    cdef Py_ssize_t _value_starts[32]
    cdef readonly int code
    cdef readonly Py_ssize_t stamp_end

    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, is_read=bint)
    cpdef bint read(self, FrameReader frames) except? -1

    @cython.locals(frames=FrameReader, size=Py_ssize_t)
    cpdef bint is_of(self, bytes user) except? -1

    @cython.locals(
        frames=FrameReader, memory="const byte*", start=Py_ssize_t, stop=Py_ssize_t, _=int,
        number="long long",
    )
    cpdef long long stamp_number(self, int index) noexcept

    @cython.locals(frames=FrameReader, body_size=Py_ssize_t)
    cpdef bint is_signed_with(self, SigningKey key) except? -1

    @cython.locals(
        has_fields=bint, stop=Py_ssize_t, start=Py_ssize_t, is_fields=bint, value=Py_ssize_t,
        number="long long", byte=int,
    )
    cdef bint _read_json(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(
        stop=Py_ssize_t, start=Py_ssize_t, is_text=bint, value_start=Py_ssize_t,
        value_end=Py_ssize_t, byte=int,
    )
    cdef Py_ssize_t _read_fields(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(byte=int, stop=Py_ssize_t, is_word=bint)
    cdef Py_ssize_t _value_end(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(position=Py_ssize_t, is_ascii=bint, byte=int, one="unsigned long long")
    cdef Py_ssize_t _text_end(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

    @cython.locals(
        start=Py_ssize_t, size=Py_ssize_t, value_start=Py_ssize_t, value_size=Py_ssize_t,
    )
    cdef bint _read_binary(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    @cython.locals(count=int, byte=int, is_plain=bint)
    cdef bint _note(self, const byte* memory, Py_ssize_t start, Py_ssize_t size, Py_ssize_t value_start, Py_ssize_t value_end) noexcept

    @cython.locals(count=int, index=int, place=int, one=int, difference=Py_ssize_t)
    cdef bint _sort(self, const byte* memory) noexcept

    @cython.locals(
        left=Py_ssize_t, right=Py_ssize_t, left_size=Py_ssize_t, right_size=Py_ssize_t,
        size=Py_ssize_t, index=Py_ssize_t, difference=int,
    )
    cdef Py_ssize_t _compare(self, const byte* memory, int one, int other) noexcept

    @cython.locals(
        size=Py_ssize_t, target="byte*", place=int, index=int, start=Py_ssize_t, end=Py_ssize_t,
        stop=Py_ssize_t,
    )
    cdef void _gather(self, const byte* memory) noexcept

cdef bint _is_late(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept
