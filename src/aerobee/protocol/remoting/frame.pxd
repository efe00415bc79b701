import cython

from aerobee.protocol.primitives.machine cimport address, byte, bytes_at, copy_bytes, load_i32, load_u32

@cython.final
cdef class FrameReader:
    cdef object _chunk
    cdef Py_ssize_t _end
    cdef str _failure
    cdef Py_ssize_t _frame_bytes_max
    cdef Py_ssize_t _header_bytes_max
    cdef Py_ssize_t _position
    cdef Py_ssize_t _received
    cdef object _room
    cdef Py_ssize_t _room_filled
    cdef Py_ssize_t _room_size
    cdef readonly Py_ssize_t body_end
    cdef readonly Py_ssize_t header_end
    cdef readonly Py_ssize_t header_start
    cdef byte* memory
    cdef readonly long long seen
    cdef readonly int serialize_type
    cdef readonly object view

    cpdef void receive(self, object data) except *

    @cython.locals(
        position=Py_ssize_t, chunk_memory="byte*", length=Py_ssize_t, word="long long",
        header_size=Py_ssize_t,
    )
    cpdef bint advance(self) except? -1

    cpdef bytes header(self)
    cpdef object body(self)
    cpdef Py_ssize_t pending_size(self) except? -1
    cpdef Py_ssize_t seen_size(self) except? -1

    @cython.locals(frame_size=Py_ssize_t)
    cdef bint _advance_room(self) except? -1

    @cython.locals(rest=Py_ssize_t, frame_size=Py_ssize_t)
    cdef bint _keep_head(self) except? -1

    @cython.locals(room=Py_ssize_t)
    cdef Py_ssize_t _room_for(self, Py_ssize_t frame_size, Py_ssize_t arrived) except -1
    cdef void _grow_room(self, Py_ssize_t frame_size) except *

    @cython.locals(size=Py_ssize_t)
    cdef void _fill_room(self) except *

    cdef void _set_current(self, Py_ssize_t start, Py_ssize_t length, long long word) noexcept
    cdef void _clear_current(self) except *

    @cython.locals(length=Py_ssize_t, word="long long", header_size=Py_ssize_t)
    cdef Py_ssize_t _check_words(self, const byte* memory, Py_ssize_t position, Py_ssize_t size) except -1

    cdef void _refuse_length(self, Py_ssize_t length, bytes first) except *
    cdef void _refuse(self, str reason) except *
