cdef class Receipt:
    cdef object _message_id
    cdef object _offset_id
    cdef object _recall
    cdef readonly object durability
    cdef readonly object offset
    cdef readonly object queue
    cdef readonly object recall_handle
