import cython

from aerobee.protocol.http2.answer_frames cimport AnswerFrames
from aerobee.protocol.http2.hpack cimport HeaderDecoder
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, load_u32

cdef unsigned int _STREAM_BITS
cdef Py_ssize_t _FRAME_BYTES_MAX
cdef Py_ssize_t _HEADER_BYTES

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
    cdef long long _idle_frames
    cdef bytes _input
    cdef bint _is_begun
    cdef long long _last_stream
    cdef object _limits
    cdef bytearray _output
    cdef long long _resets
    cdef long long _second_ms
    cdef long long _stream_credit
    cdef long long _stream_window
    cdef dict _streams
    cdef Py_ssize_t _streams_max
    cdef long long _taken
    cdef dict _waiting
    cdef long long _window
    cdef readonly long long unsent

    cpdef bytes take_output(self)

    @cython.locals(
        events=list, position=Py_ssize_t, end=Py_ssize_t, memory="const byte*", word="unsigned int",
        size=Py_ssize_t, kind=int, start=Py_ssize_t, flags=int, stream="long long",
    )
    cpdef list receive(self, bytes data, long long now_ms)

    cdef void _take_frame(self, int kind, int flags, long long stream, bytes payload, list events) except *

    @cython.locals(size=Py_ssize_t, is_ended=bint, stream=_Stream)
    cdef void _take_data(self, int flags, long long number, bytes payload, list events) except *
    cdef void _credit_connection(self, Py_ssize_t size) except *
    cdef void _take_headers(self, int flags, long long number, bytes payload, list events) except *

    @cython.locals(is_ended=bint, fields=list)
    cdef void _take_block(self, int flags, long long number, bytes block, list events) except *
    cdef void _check_number(self, long long number) except *
    cdef void _count_idle(self) except *
    cpdef bint is_open(self, long long number) except -1

    @cython.locals(stream=_Stream, size=Py_ssize_t, output=bytearray)
    cpdef bint write_answer(self, long long number, bytes message, AnswerFrames around) except -1

@cython.locals(is_pseudo=bint, field=tuple, name=str)
cdef bint _are_sound(list fields) except -1
