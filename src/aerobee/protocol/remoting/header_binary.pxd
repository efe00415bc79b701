import cython

from aerobee.protocol.remoting.command_header cimport CommandHeader
from aerobee.protocol.text.json_machine cimport text_at
from aerobee.protocol.primitives.machine cimport address, byte, bytes_at, load_i16, load_i32

@cython.locals(memory="const byte*", position=Py_ssize_t, size=Py_ssize_t, language=Py_ssize_t)
cpdef void decode_binary_header(object view, Py_ssize_t start, Py_ssize_t end, CommandHeader header) except *

@cython.locals(size=Py_ssize_t, key=str, fields=dict)
cdef dict _ext_fields(const byte* memory, Py_ssize_t position, Py_ssize_t end, CommandHeader header)

cdef str _cut(const byte* memory, Py_ssize_t position, Py_ssize_t bytes_max, CommandHeader header)
cdef str _beginning(const byte* memory, Py_ssize_t position, Py_ssize_t size)
cdef str _text(const byte* memory, Py_ssize_t position, Py_ssize_t end)

@cython.locals(fields=list, key_bytes=bytes, value_bytes=bytes, ext=bytes, remark=bytes)
cpdef bytes encode_binary_header(CommandHeader header)

cdef bytes _number(object value, int size)
cdef bytes _bytes(object text)
