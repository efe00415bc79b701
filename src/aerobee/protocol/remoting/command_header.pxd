cdef class CommandHeader:
    cdef public object code
    cdef public object excess
    cdef public object ext_fields
    cdef public object flag
    cdef public object language
    cdef public object opaque
    cdef public object remark
    cdef public object serialize_type
    cdef public object version
