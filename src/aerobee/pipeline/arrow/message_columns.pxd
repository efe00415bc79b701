import cython

from aerobee.pipeline.arrow.column_machine cimport is_ascii_at, put_bit, put_i32, put_i64
from aerobee.protocol.primitives.machine cimport address, byte, bytes_address, bytes_at, copy_bytes, same_bytes
from aerobee.protocol.message.record cimport Record, ends_in_crc
from aerobee.protocol.primitives.search_machine cimport find_byte

cdef int _KEY
cdef int _VALUE
cdef int _TOPIC
cdef int _QUEUE_ID
cdef int _OFFSET
cdef int _TIMESTAMP
cdef int _BORN_TIMESTAMP
cdef int _TAGS
cdef int _MESSAGE_ID
cdef int _RECONSUME_TIMES
cdef int _PROPERTIES
cdef int _LOG_OFFSET
cdef int _FULL
cdef int _ENDED
cdef int _SPECIAL
cdef int _WRONG
cdef int _NEEDS_PROPERTIES
cdef int _SPECIAL_FLAGS
cdef Py_ssize_t _CRC_BYTES
cdef Py_ssize_t _DATA_BYTES_MAX
cdef byte* _KEYS_NAME
cdef byte* _TAGS_NAME
cdef byte* _UNIQUE_NAME
cdef byte* _HEX

@cython.final
cdef class SizedColumn:
    cdef Py_ssize_t _capacity
    cdef byte* _data
    cdef object _data_view
    cdef byte* _offsets
    cdef object _offsets_view
    cdef Py_ssize_t _rows_max
    cdef byte* _validity
    cdef object _validity_view
    cdef readonly Py_ssize_t nulls
    cdef readonly Py_ssize_t rows
    cdef readonly Py_ssize_t size

    cdef void _begin(self) except *

    @cython.locals(needed=Py_ssize_t, capacity=Py_ssize_t)
    cdef int make_room(self, Py_ssize_t size) except -1

    cdef int add(self, const byte* source, Py_ssize_t start, Py_ssize_t size) except -1
    cdef int add_text(self, const byte* source, Py_ssize_t start, Py_ssize_t size) except -1
    cpdef int add_bytes(self, bytes value) except -1
    cpdef void add_null(self) noexcept
    cdef void _end_row(self) noexcept

    @cython.locals(at=Py_ssize_t, index=Py_ssize_t, value=int, shift=int)
    cdef int add_id(self, const byte* source, Py_ssize_t host, Py_ssize_t host_size, long long log_offset) except -1

    cpdef tuple finish(self)

@cython.final
cdef class FixedColumn:
    cdef byte* _memory
    cdef Py_ssize_t _rows_max
    cdef object _view
    cdef Py_ssize_t _width
    cdef readonly Py_ssize_t rows

    cdef void _begin(self) except *
    cpdef void add(self, long long value) noexcept
    cpdef object finish(self)

@cython.final
cdef class MessageColumns:
    cdef Py_ssize_t _bytes
    cdef Py_ssize_t _bytes_max
    cdef Record _record
    cdef Py_ssize_t _rows_max
    cdef int _wanted
    cdef readonly FixedColumn born_timestamp
    cdef readonly int finding
    cdef readonly SizedColumn key
    cdef readonly FixedColumn log_offset
    cdef readonly SizedColumn message_id
    cdef readonly long long next_offset
    cdef readonly FixedColumn offset
    cdef readonly Py_ssize_t position
    cdef readonly SizedColumn properties
    cdef readonly FixedColumn queue_id
    cdef readonly FixedColumn reconsume_times
    cdef readonly Py_ssize_t record_size
    cdef readonly Py_ssize_t rows
    cdef readonly SizedColumn tags
    cdef readonly FixedColumn timestamp
    cdef readonly SizedColumn topic
    cdef readonly SizedColumn value

    @cython.locals(memory="byte*", record=Record)
    cpdef int take(self, object view, Py_ssize_t position, Py_ssize_t end, long long offset_end) except -1

    @cython.locals(wanted=int, size=Py_ssize_t)
    cdef int add_record(self, const byte* memory, Record record) except -1

    @cython.locals(
        wanted=int, start=Py_ssize_t, end=Py_ssize_t, key_at=Py_ssize_t, tags_at=Py_ssize_t,
        id_at=Py_ssize_t, key_size=Py_ssize_t, tags_size=Py_ssize_t, id_size=Py_ssize_t,
        name_end=Py_ssize_t, value_end=Py_ssize_t, name_size=Py_ssize_t, value_at=Py_ssize_t,
        host=Py_ssize_t, host_size=Py_ssize_t,
    )
    cdef int _add_properties(self, const byte* memory, Record record, Py_ssize_t size) except -1

    cpdef bint is_full(self)
    cpdef void begin_again(self)
