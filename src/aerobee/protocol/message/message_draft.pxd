from aerobee.protocol.primitives.machine cimport address, byte, bytes_at, copy_bytes

cdef class MessageDraft:
    cdef object _properties_view
    cdef byte* body
    cdef public Py_ssize_t body_size
    cdef object body_view
    cdef public bytes born_host
    cdef public long long born_timestamp
    cdef public int flag
    cdef public bint is_batch
    cdef public long long prepared_offset
    cdef byte* properties
    cdef public Py_ssize_t properties_size
    cdef public int queue_id
    cdef public int reconsume_times
    cdef public int sys_flag
    cdef public bytes topic

    cpdef void set_body(self, object body) except *
    cpdef void set_properties(self, bytes text) except *
