from aerobee.protocol.message.message_draft cimport MessageDraft

cdef class FastDesk:
    cdef readonly MessageDraft draft

    cpdef bint is_open(self, object now) except -1
    cpdef long long store(self, object channel, object now) except *
    cpdef tuple ack_bounds(self, str topic, object queue_id, object revive_queue)
    cpdef void acknowledge(self, tuple key, object revive_queue, object revive_time, list offsets, object told) except *
