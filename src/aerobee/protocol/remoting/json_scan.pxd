import cython

from aerobee.protocol.text.json_machine cimport hex_digit, parse_decimal, plain_end, text_at
from aerobee.protocol.primitives.machine cimport address, byte, bytes_at
from aerobee.protocol.remoting.command_header cimport CommandHeader

cdef Py_ssize_t _FIELDS_MAX
cdef Py_ssize_t _KEY_BYTES_MAX
cdef Py_ssize_t _VALUE_BYTES_MAX
cdef Py_ssize_t _SKIPPED_BYTES_MAX
cdef dict _TOP_NAMES

cpdef bint is_bounded(str number, bint is_integer) except? -1
cpdef void reset_header(CommandHeader header) except *
cpdef void scan_json_header(object view, Py_ssize_t start, Py_ssize_t end, CommandHeader header) except *

@cython.final
cdef class _HeaderScan:
    cdef Py_ssize_t _end
    cdef str _excess
    cdef bint _is_cut
    cdef bint _is_integer
    cdef byte* _memory
    cdef Py_ssize_t _pieces_left
    cdef Py_ssize_t _position
    cdef Py_ssize_t _start
    cdef object _view

    @cython.locals(seen=set, count=Py_ssize_t)
    cdef void read(self, CommandHeader header) except *
    @cython.locals(key=str, name=int)
    cdef void _read_member(self, CommandHeader header, set seen) except *
    @cython.locals(nulls=set, byte=int, key=str, count=Py_ssize_t)
    cdef void _read_ext_fields(self, dict fields) except *
    @cython.locals(byte=int)
    cdef void _skip_value(self, int depth) except *
    @cython.locals(seen=set, count=Py_ssize_t)
    cdef void _skip_object(self, int depth) except *
    @cython.locals(byte=int)
    cdef void _skip_array(self, int depth) except *
    cdef void _enter(self, int depth) except *
    @cython.locals(byte=int)
    cdef bint _find_key(self, Py_ssize_t count) except -1
    @cython.locals(key=str)
    cdef str _new_key(self, object seen)
    @cython.locals(start=Py_ssize_t, value="long long")
    cdef object _int32(self)
    @cython.locals(excess=str, text=str)
    cdef str _text_or_null(self, str absent)
    @cython.locals(size=Py_ssize_t)
    cdef void _word(self, bytes word) except *
    @cython.locals(start=Py_ssize_t, text=str)
    cdef str _number(self)
    @cython.locals(byte=int)
    cdef void _number_end(self) except *
    @cython.locals(start=Py_ssize_t)
    cdef void _digits(self) except *
    @cython.locals(start=Py_ssize_t, position=Py_ssize_t, byte=int, text=str)
    cdef str _string(self, Py_ssize_t bytes_max)
    @cython.locals(byte=int, run_end=Py_ssize_t)
    cdef str _escaped_string(self, Py_ssize_t start, Py_ssize_t position, Py_ssize_t bytes_max)
    @cython.locals(byte=int, unit=int, low=int)
    cdef bytes _escape(self)
    @cython.locals(unit=int, index=Py_ssize_t, digit=int)
    cdef int _unit(self) except -1
    cdef void _exceed(self, str what) except *
    cdef str _cut(self, bytes beginning, Py_ssize_t bytes_max)
    cdef void _pass_members(self) except *
    @cython.locals(depth=Py_ssize_t, byte=int)
    cdef void _pass(self, bint is_value) except *
    @cython.locals(byte=int)
    cdef Py_ssize_t _quote_after(self, Py_ssize_t position) except -1
    cdef int _peek(self) noexcept
    @cython.locals(byte=int)
    cdef void _skip_space(self) noexcept
    cdef void _fail(self, str reason) except *
