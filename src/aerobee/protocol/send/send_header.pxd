import cython

from aerobee.protocol.remoting.command_header cimport CommandHeader
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.remoting.header_binary cimport decode_binary_header
from aerobee.protocol.remoting.header_json cimport decode_json_header
from aerobee.protocol.text.json_machine cimport (
    NO_NUMBER, bare_int32, is_bare_integer, is_utf8, name_end, number_end, parse_decimal, plain_end,
)
from aerobee.protocol.primitives.machine cimport (
    byte, bytes_address, bytes_at, copy_bytes, load_i16, load_i32, same_bytes,
)
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.send.send_machine cimport long_name, memory_part, short_name, top_name
from aerobee.protocol.send.send_header_template cimport SendHeaderTemplate, scan_properties

@cython.final
cdef class SendHeader:
    cdef Py_ssize_t _other_sizes[8]
    cdef Py_ssize_t _other_starts[8]
    cdef int _others
    cdef unsigned int _seen
    cdef Py_ssize_t _start
    cdef SendHeaderTemplate _template
    cdef bytes _topic
    cdef readonly int code
    cdef readonly int default_topic_queue_nums
    cdef readonly int flag
    cdef readonly bint is_unit_mode
    cdef readonly int max_reconsume_times
    cdef readonly int opaque
    cdef readonly int version

    cpdef bint read(self, FrameReader frames, MessageDraft draft) except? -1
    cpdef void take(self, CommandHeader header, FrameReader frames, MessageDraft draft) except *
    cdef void _take_body(self, FrameReader frames, MessageDraft draft) noexcept

    @cython.locals(memory="const byte*", start=Py_ssize_t, end=Py_ssize_t)
    cpdef bint scan(self, FrameReader frames, MessageDraft draft) except? -1

    cdef void _forget(self, MessageDraft draft) noexcept
    cdef bint _scan_anew(self, const byte* memory, Py_ssize_t start, Py_ssize_t end, int serialize_type, MessageDraft draft) except? -1

    @cython.locals(stop=Py_ssize_t, name=int, bit="unsigned int", byte=int)
    cdef bint _scan_json(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) except? -1

    @cython.locals(stop=Py_ssize_t, number="long long")
    cdef Py_ssize_t _scan_top(self, int name, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) except? -2

    @cython.locals(start=Py_ssize_t, stop=Py_ssize_t, name=int, byte=int)
    cdef Py_ssize_t _scan_ext(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) except? -2

    @cython.locals(byte=int, stop=Py_ssize_t)
    cdef Py_ssize_t _scan_value(self, int name, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) except? -2

    @cython.locals(position=Py_ssize_t)
    cdef Py_ssize_t _text_end(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

    @cython.locals(stop=Py_ssize_t)
    cdef Py_ssize_t _scan_properties(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) noexcept

    @cython.locals(start=Py_ssize_t, size=Py_ssize_t, name=int, is_number=bint)
    cdef bint _scan_binary(self, const byte* memory, Py_ssize_t position, Py_ssize_t end, MessageDraft draft) except? -1

    @cython.locals(name=int, count=int, index=int)
    cdef int _field_name(self, const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept

    @cython.locals(bit="unsigned int", number="long long")
    cdef bint _take_field(self, int name, const byte* memory, Py_ssize_t start, Py_ssize_t stop, MessageDraft draft) except? -1

    @cython.locals(size=Py_ssize_t)
    cdef bint _take_topic(self, const byte* memory, Py_ssize_t start, Py_ssize_t stop, MessageDraft draft) except? -1

@cython.locals(code="long long")
cdef bint _is_of_other_code(const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept
cdef bint _differs(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept
cdef bint _is_word(const byte* memory, Py_ssize_t position) noexcept
cdef bint _is_true(const byte* memory, Py_ssize_t start, Py_ssize_t stop) noexcept
