import cython

from aerobee.protocol.text.json_machine cimport (
    NO_NUMBER, copy_plain, escaped_unit, is_bare_integer, is_utf8, number_end, parse_decimal, plain_end, put_character,
)
from aerobee.protocol.primitives.machine cimport address, byte, copy_bytes, same_bytes
from aerobee.protocol.message.message_draft cimport MessageDraft

@cython.locals(size=Py_ssize_t, is_ascii=bint, stop=Py_ssize_t, byte=int, unit=int)
cdef Py_ssize_t scan_properties(const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) noexcept

@cython.final
cdef class SendHeaderTemplate:
    cdef object _bytes
    cdef int _count
    cdef Py_ssize_t _ends[6]
    cdef int _flag
    cdef bint _is_batch
    cdef int _kinds[6]
    cdef int _reconsume_times
    cdef Py_ssize_t _room
    cdef Py_ssize_t _size
    cdef Py_ssize_t _starts[6]
    cdef int _sys_flag
    cdef bytes _topic
    cdef readonly int opaque

    cdef void forget(self) noexcept
    cdef void mark(self, int kind, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef void learn(self, const byte* memory, Py_ssize_t start, Py_ssize_t end, MessageDraft draft) noexcept

    @cython.locals(known="const byte*", position=Py_ssize_t, run_start=Py_ssize_t, run_size=Py_ssize_t, index=int)
    cdef bint match(self, const byte* memory, Py_ssize_t start, Py_ssize_t end, MessageDraft draft) noexcept

    @cython.locals(stop=Py_ssize_t, number="long long")
    cdef Py_ssize_t _read_place(self, int kind, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) noexcept
