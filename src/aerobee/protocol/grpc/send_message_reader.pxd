import cython

from aerobee.protocol.grpc.field_scan cimport FieldScan, is_printable, put_number
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, bytes_at, copy_bytes, same_bytes,
)
from aerobee.protocol.send.send_machine cimport memory_part

cdef Py_ssize_t _ID_BYTES_MAX
cdef Py_ssize_t _TEXT_BYTES_MAX
cdef int _PAIRS_MAX
cdef long long _SECONDS_MAX
cdef long long _NANOS_MAX
cdef bytes _OK
cdef Py_ssize_t _OK_BYTES
cdef Py_ssize_t _ANSWER_BYTES_MAX

@cython.final
cdef class SendMessageReader:
    cdef object _answer_view
    cdef long long _born_ms
    cdef Py_ssize_t _host_size
    cdef Py_ssize_t _host_start
    cdef Py_ssize_t _id_size
    cdef Py_ssize_t _id_start
    cdef Py_ssize_t _key_sizes[16]
    cdef Py_ssize_t _key_starts[16]
    cdef int _keys
    cdef byte* _memory
    cdef bytes _message
    cdef Py_ssize_t _name_sizes[16]
    cdef Py_ssize_t _name_starts[16]
    cdef int _pairs
    cdef FieldScan _part
    cdef FieldScan _scan
    cdef int _seen
    cdef FieldScan _system
    cdef Py_ssize_t _tag_size
    cdef Py_ssize_t _tag_start
    cdef Py_ssize_t _text_bytes
    cdef bytes _topic
    cdef Py_ssize_t _value_sizes[16]
    cdef Py_ssize_t _value_starts[16]
    cdef object _view
    cdef byte* answer_memory
    cdef Py_ssize_t answer_start

    cpdef bint read(self, bytes message, MessageDraft draft) except? -1

    @cython.locals(scan=FieldScan)
    cpdef bint read_at(self, bytes data, Py_ssize_t start, Py_ssize_t end, MessageDraft draft) except? -1

    cdef bint _take_field(self, long long tag, Py_ssize_t start, Py_ssize_t stop, MessageDraft draft) except? -1

    @cython.locals(is_first=bint)
    cdef bint _is_first(self, int bit) noexcept

    @cython.locals(part=FieldScan, size=Py_ssize_t, topic="const byte*")
    cdef bint _take_topic(self, Py_ssize_t start, Py_ssize_t stop) except? -1

    @cython.locals(memory="const byte*", part=FieldScan, name=Py_ssize_t, name_size=Py_ssize_t, index=int)
    cdef bint _take_pair(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    cdef bint _has_room(self, Py_ssize_t size) noexcept

    @cython.locals(system=FieldScan)
    cdef bint _take_system(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    @cython.locals(size=Py_ssize_t)
    cdef bint _take_system_field(self, long long tag, long long value, Py_ssize_t start, Py_ssize_t stop) noexcept

    cdef bint _take_key(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    @cython.locals(index=Py_ssize_t)
    cdef bint _is_tag(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    @cython.locals(part=FieldScan, seconds="long long", nanos="long long")
    cdef bint _take_born(self, Py_ssize_t start, Py_ssize_t stop) noexcept

    cdef void _fill(self, MessageDraft draft) except *

    @cython.locals(text="byte*", at=Py_ssize_t, index=int, size=Py_ssize_t)
    cdef void _fill_properties(self, MessageDraft draft) noexcept

    @cython.locals(index=int, size=Py_ssize_t)
    cdef Py_ssize_t _put_keys(self, byte* text, Py_ssize_t at) noexcept

    cpdef bytes answer(self, long long queue_offset)

    @cython.locals(memory="byte*", at=Py_ssize_t, start=Py_ssize_t, size=Py_ssize_t, first=Py_ssize_t)
    cdef Py_ssize_t write_answer(self, long long queue_offset) noexcept

    @cython.locals(memory="byte*")
    cdef Py_ssize_t _put_id(self, int tag, Py_ssize_t at) noexcept

cdef Py_ssize_t _put(byte* text, Py_ssize_t at, bytes name, const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept
