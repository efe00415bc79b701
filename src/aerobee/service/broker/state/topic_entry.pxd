import cython

@cython.final
cdef class TopicEntry:
    cdef readonly bytes name
    cdef readonly int write_queues
    cdef readonly int queues_end
    cdef readonly int kinds
    cdef readonly bint takes_normal
    cdef int _turn

    cpdef int next_queue(self) noexcept
