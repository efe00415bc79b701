import cython

from aerobee.protocol.remoting.command_header cimport CommandHeader
from aerobee.protocol.remoting.json_scan cimport is_bounded, reset_header, scan_json_header

cpdef void decode_json_header(object view, Py_ssize_t start, Py_ssize_t end, CommandHeader header) except *

@cython.locals(pairs=list)
cpdef bytes encode_json_header(CommandHeader header)

cdef str _int32_text(object value)

cdef str _quoted(object text)

@cython.locals(character=Py_UCS4)
cdef bint _is_plain(str text) except -1
