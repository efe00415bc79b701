import cython

from aerobee.protocol.primitives.digits cimport put_decimal
from aerobee.protocol.text.json_machine cimport parse_decimal, plain_end
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, copy_bytes, same_bytes
from aerobee.protocol.message.message_draft cimport MessageDraft
from aerobee.service.broker.transaction.open_halves cimport Half, OpenHalves
from aerobee.service.broker.transaction.queue_progress cimport QueueProgress

cdef bytes _SCHEDULE_TOPIC
cdef bytes _HALF_TOPIC
cdef bytes _TIMER_TOPIC
cdef Py_ssize_t _GROUP_BYTES_MAX

@cython.final
cdef class SendDiversion:
    cdef long long _deliver_ms
    cdef long long _due_ms
    cdef long long _expiry_ms
    cdef bytes _group
    cdef Py_ssize_t _group_size
    cdef Py_ssize_t _group_start
    cdef str _group_text
    cdef OpenHalves _halves
    cdef int _levels
    cdef QueueProgress _progress
    cdef long long _room
    cdef object _terms
    cdef object _ticks
    cdef readonly long long out_ms

    cdef void begin(self) noexcept

    @cython.locals(number="long long")
    cdef bint divert(self, MessageDraft draft, int kind, Py_ssize_t start, Py_ssize_t end, Py_ssize_t id_start, Py_ssize_t id_end, object now) except? -1

    cdef void _learn_terms(self, object now) except *

    @cython.locals(half=Half)
    cdef void opened(self, long long queue_offset) except *

    @cython.locals(
        memory="const byte*", end=Py_ssize_t, position=Py_ssize_t, start=Py_ssize_t,
        value=Py_ssize_t, kind=int,
    )
    cdef bint _is_free(self, MessageDraft draft) noexcept

    @cython.locals(level="long long")
    cdef bint _to_level(self, MessageDraft draft, Py_ssize_t start, Py_ssize_t end) noexcept

    @cython.locals(memory="byte*", size=Py_ssize_t, stop=Py_ssize_t)
    cdef bint _to_half(self, MessageDraft draft, Py_ssize_t start, Py_ssize_t end, Py_ssize_t id_start, Py_ssize_t id_end) except? -1

    cdef bint _to_timer(self, MessageDraft draft, long long deliver_ms, object now) except? -1

    cdef void _add_place(self, MessageDraft draft) noexcept

    @cython.locals(end=Py_ssize_t)
    cdef void _add_number(self, MessageDraft draft, long long number) noexcept

    @cython.locals(size=Py_ssize_t)
    cdef void _add(self, MessageDraft draft, bytes text) noexcept

@cython.locals(size=Py_ssize_t, byte=int)
cdef int _kind_of(const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept
