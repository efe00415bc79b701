import cython

from aerobee.net.round cimport Round
from aerobee.protocol.remoting.frame cimport FrameReader
from aerobee.protocol.remoting.reply_buffer cimport ReplyBuffer

cdef class Channel:
    cdef Py_ssize_t _begun_bytes
    cdef object _fast
    cdef FrameReader _frames
    cdef bint _is_ending
    cdef bint _is_holding
    cdef bint _is_strange
    cdef object _owner
    cdef Round _round
    cdef object _transport
    cdef readonly object begun_ms
    cdef readonly long long last_read_ms
    cdef readonly object number
    cdef readonly object paused_since_ms

    cpdef void data_received(self, object data) except *

    @cython.locals(frames=FrameReader)
    cdef void _handle_frames(self) except *

    @cython.locals(size=Py_ssize_t, turn=Round)
    cdef void _note_begun(self) except *

    @cython.locals(more=Py_ssize_t)
    cdef void _count_begun(self, Py_ssize_t size) except *
    cdef void _refuse(self, object fault) except *
    cdef void _hold(self) except *
    cdef void _begin_round(self) except *
    cpdef void write(self, list buffers) except *

    @cython.locals(output=ReplyBuffer, size=Py_ssize_t)
    cdef bint _gathered(self, list buffers) except -1
    cpdef void close(self) except *
    cdef void _check_unread(self) except *
    cdef void _flush(self) except *
