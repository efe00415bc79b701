import cython

from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, copy_bytes, crc32, load_i16, load_i32, load_i64, same_bytes,
    store_i16, store_i32, store_i64,
)
from aerobee.protocol.message.message_draft cimport MessageDraft

cdef int _MAGIC_V1
cdef int _MAGIC_V2
cdef int _MAGIC_FILLER
cdef int _RECORD_BYTES_MIN
cdef Py_ssize_t _CRC_PROPERTY_BYTES
cdef Py_ssize_t _PROPERTIES_BYTES_MAX
cdef Py_ssize_t _TOPIC_BYTES_V1_MAX
cdef Py_ssize_t _TOPIC_BYTES_MAX
cdef int _WHOLE
cdef int _FILLER
cdef int _TORN
cdef int _UNKNOWN_MAGIC
cdef int _SIZES_DISAGREE
cdef int _NO_CRC
cdef int _BODY_CRC
cdef int _RECORD_CRC
cdef byte* _CRC_NAME

@cython.final
cdef class Record:
    cdef readonly int body_crc
    cdef readonly Py_ssize_t body_size
    cdef readonly Py_ssize_t body_start
    cdef readonly long long born_timestamp
    cdef readonly int flag
    cdef readonly long long log_offset
    cdef readonly Py_ssize_t position
    cdef readonly long long prepared_offset
    cdef readonly Py_ssize_t properties_size
    cdef readonly Py_ssize_t properties_start
    cdef readonly int queue_id
    cdef readonly long long queue_offset
    cdef readonly int reconsume_times
    cdef readonly Py_ssize_t size
    cdef readonly long long store_timestamp
    cdef readonly int sys_flag
    cdef readonly Py_ssize_t topic_size
    cdef readonly Py_ssize_t topic_start

    @cython.locals(
        size=int, magic=int, record_end=Py_ssize_t, sys_flag=int, at=Py_ssize_t,
        after_hosts=Py_ssize_t, body_start=Py_ssize_t, body_size=Py_ssize_t, topic_at=Py_ssize_t,
        topic_size=Py_ssize_t, topic_start=Py_ssize_t, properties_start=Py_ssize_t,
        properties_size=Py_ssize_t,
    )
    cdef int read(self, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept

    cdef bint has_crc(self, const byte* memory) noexcept

    @cython.locals(vouched=int)
    cdef bint is_sound(self, const byte* memory, bint needs_crc) noexcept

    @cython.locals(covered=Py_ssize_t, value=int, digit=Py_ssize_t, _=int)
    cdef int vouched_by(self, const byte* memory) noexcept

cdef class RecordWriter:
    cdef byte* _head
    cdef Py_ssize_t _head_size
    cdef object _head_view
    cdef bytes _store_host
    cdef byte* _topic
    cdef bytes _topic_bytes
    cdef Py_ssize_t _topic_size
    cdef Py_ssize_t _topic_size_bytes
    cdef bint _with_crc

    @cython.locals(born_size=Py_ssize_t, store_size=Py_ssize_t, sys_flag=int, at=Py_ssize_t, head="byte*")
    cdef void begin(self, MessageDraft draft, long long store_timestamp) except *

    @cython.locals(text_size=Py_ssize_t)
    cdef Py_ssize_t size_of(self, Py_ssize_t body_size, const byte* properties, Py_ssize_t properties_start, Py_ssize_t properties_size) noexcept

    @cython.locals(at=Py_ssize_t)
    cdef void write(
        self, byte* memory, Py_ssize_t position, Py_ssize_t size, int flag,
        long long queue_offset, long long log_offset,
        const byte* body, Py_ssize_t body_start, Py_ssize_t body_size,
        const byte* properties, Py_ssize_t properties_start, Py_ssize_t properties_size,
    ) noexcept

    @cython.locals(value=int, _=int)
    cdef void _write_crc(self, byte* memory, Py_ssize_t position, Py_ssize_t at) noexcept

    @cython.locals(size=Py_ssize_t)
    cpdef bytes encode(self, MessageDraft draft, long long queue_offset, long long log_offset, long long store_timestamp)

@cython.locals(tail=Py_ssize_t)
cdef bint ends_in_crc(const byte* memory, Py_ssize_t start, Py_ssize_t size) noexcept

cdef int checksum(const byte* memory, Py_ssize_t position, Py_ssize_t size) noexcept
cdef void write_filler(byte* memory, Py_ssize_t position, int bytes_left) noexcept
