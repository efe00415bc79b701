import cython

from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, bytes_at, copy_bytes, same_bytes,
)
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.protocol.message.record cimport Record
from aerobee.protocol.send.send_machine cimport memory_part
from aerobee.protocol.message.waiting_properties cimport WaitingProperties
from aerobee.storage.appender cimport Appender

cdef Py_ssize_t _TEXT_BYTES_MAX
cdef Py_ssize_t _ROOM_BYTES

@cython.final
cdef class Redelivery:
    cdef Appender _appender
    cdef MessageDraft _draft
    cdef Py_ssize_t _end
    cdef byte* _memory
    cdef Py_ssize_t _position
    cdef bytes _topic
    cdef object _view
    cdef public long long bytes_run
    cdef public long long count_run
    cdef readonly long long next_offset
    cdef readonly Record record
    cdef readonly long long stored
    cdef readonly WaitingProperties text

    cpdef void let_go(self) except *
    cdef void look(self, object view) except *

    @cython.locals(found=int)
    cpdef void read(self, object view) except *

    @cython.locals(draft=MessageDraft)
    cpdef void put(self, bytes more, long long wall_ms) except *

    cpdef bint is_dead(self) except? 0

    @cython.locals(text=WaitingProperties, topic=bytes)
    cpdef bytes key(self)

    cpdef bytes delete_key(self)

    @cython.locals(text=WaitingProperties, topic=bytes, start=Py_ssize_t)
    cdef bytes _place(self)

    @cython.locals(draft=MessageDraft, size=Py_ssize_t, more_size=Py_ssize_t, target="byte*")
    cdef void _fill_text(self, bytes more) except *

    @cython.locals(draft=MessageDraft, record=Record, host_start=Py_ssize_t, host_size=Py_ssize_t, host=bytes)
    cdef void _fill_rest(self) except *

    cpdef void begin(self, object view) except *

    @cython.locals(found=int)
    cpdef void run(self, long long end, long long wall_ms) except *

    cpdef void pass_over(self) except *
    cpdef bint is_over(self)

@cython.locals(memory="byte*", record=Record, position=Py_ssize_t, end=Py_ssize_t)
cpdef bint are_whole(object view) except -1
