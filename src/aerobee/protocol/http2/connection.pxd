import cython

from aerobee.protocol.http2.answer_frames cimport AnswerFrames
from aerobee.protocol.http2.header_shape cimport HeaderShape
from aerobee.protocol.http2.hpack cimport HeaderDecoder
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, load_u32

cdef unsigned int _STREAM_BITS
cdef Py_ssize_t _FRAME_BYTES_MAX
cdef Py_ssize_t _HEADER_BYTES
cdef unsigned int _DATA
cdef unsigned int _HEADERS
cdef int _END_HEADERS
cdef int _END_STREAM
cdef Py_ssize_t _PREFIX_BYTES

@cython.final
cdef class _Stream:
    cdef public bint is_ended
    cdef public bint is_remote_ended
    cdef public long long taken
    cdef public bytes trailers
    cdef public object unsent
    cdef public long long window

@cython.final
cdef class Http2Connection:
    cdef bytearray _block
    cdef int _block_flags
    cdef int _block_frames
    cdef long long _block_stream
    cdef long long _credit_at
    cdef Py_ssize_t _frame_bytes_max
    cdef HeaderDecoder _headers
    cdef Py_ssize_t _held
    cdef long long _idle_frames
    cdef bint _is_begun
    cdef long long _last_stream
    cdef object _limits
    cdef long long _misses
    cdef bytearray _output
    cdef object _paths
    cdef Py_ssize_t _position
    cdef long long _resets
    cdef long long _second_ms
    cdef list _shapes
    cdef long long _stream_credit
    cdef long long _stream_window
    cdef dict _streams
    cdef Py_ssize_t _streams_max
    cdef long long _taken
    cdef dict _waiting
    cdef long long _window
    cdef readonly HeaderShape call_shape
    cdef readonly Py_ssize_t call_start
    cdef readonly Py_ssize_t call_stop
    cdef readonly long long call_stream
    cdef readonly bytes input
    cdef readonly bint is_at_call
    cdef readonly Py_ssize_t unsent

    cpdef bytes take_output(self)

    @cython.locals(events=list)
    cpdef list receive(self, bytes data, long long now_ms)

    @cython.locals(left=Py_ssize_t)
    cpdef void feed(self, bytes data, long long now_ms) except *

    @cython.locals(
        events=list, start=Py_ssize_t, end=Py_ssize_t, memory="const byte*", word="unsigned int",
        size=Py_ssize_t, kind=int, payload=Py_ssize_t, flags=int, stream="long long",
    )
    cpdef list read(self)

    @cython.locals(
        at=Py_ssize_t, end=Py_ssize_t, memory="const byte*", number="long long", headers_end=Py_ssize_t,
        data=Py_ssize_t, message=Py_ssize_t, size=Py_ssize_t,
    )
    cpdef bint find_call(self) except -1

    @cython.locals(table="long long", shape=HeaderShape)
    cdef bint _find_shape(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) except -1
    cpdef void pass_call(self) except *

    @cython.locals(size="long long")
    cpdef long long answer_bytes_max(self) noexcept
    cpdef void reserve(self, Py_ssize_t size) noexcept
    cpdef void hold(self, Py_ssize_t count) noexcept
    cpdef void write_answers(self, bytes answers) except *
    cpdef bint has_stream_room(self, Py_ssize_t size) noexcept

    cdef void _take_frame(self, int kind, int flags, long long stream, bytes payload, list events) except *

    @cython.locals(size=Py_ssize_t, is_ended=bint, stream=_Stream)
    cdef void _take_data(self, int flags, long long number, bytes payload, list events) except *
    cdef void _credit_connection(self, Py_ssize_t size) except *
    cdef void _take_headers(self, int flags, long long number, bytes payload, list events) except *

    @cython.locals(is_ended=bint, fields=list, changes="long long")
    cdef void _take_block(self, int flags, long long number, bytes block, list events) except *
    cdef void _check_number(self, long long number) except *
    cdef void _count_idle(self) except *
    cpdef bint is_open(self, long long number) except -1

    @cython.locals(stream=_Stream, size=Py_ssize_t, output=bytearray)
    cpdef bint write_answer(self, long long number, bytes message, AnswerFrames around) except -1

@cython.locals(is_pseudo=bint, field=tuple, name=str)
cdef bint _are_sound(list fields) except -1
