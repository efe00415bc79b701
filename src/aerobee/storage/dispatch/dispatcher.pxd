import cython

from aerobee.protocol.primitives.java_hash cimport signed32, text_hash
from aerobee.protocol.primitives.machine cimport byte, bytes_address, bytes_at, load_u32, same_bytes
from aerobee.protocol.message.record cimport Record
from aerobee.storage.files.file_sequence cimport FileSequence
from aerobee.storage.files.mapped_file cimport MappedFile
from aerobee.storage.index.consume_queue cimport ConsumeQueue
from aerobee.storage.index.consume_queues cimport ConsumeQueues
from aerobee.storage.index.key_index cimport KeyIndex

cdef bytes _SCHEDULE_TOPIC
cdef unsigned int _TAGS
cdef unsigned int _KEYS
cdef unsigned int _UNIQ
cdef unsigned int _UNDERSCORE_KEY
cdef unsigned int _DELA

cdef class Dispatcher:
    cdef object _batch_queues
    cdef long long _check_before
    cdef long long _crc_from
    cdef tuple _delay_levels_ms
    cdef Py_ssize_t _delay_size
    cdef Py_ssize_t _delay_start
    cdef KeyIndex _index
    cdef Py_ssize_t _keys_size
    cdef Py_ssize_t _keys_start
    cdef FileSequence _log
    cdef ConsumeQueues _queues
    cdef long long _queues_from
    cdef Record _record
    cdef Py_ssize_t _tags_size
    cdef Py_ssize_t _tags_start
    cdef list _touched
    cdef Py_ssize_t _unique_size
    cdef Py_ssize_t _unique_start
    cdef readonly long long last_timestamp
    cdef readonly long long offset

    @cython.locals(queue=ConsumeQueue)
    cpdef list take_touched(self)

    @cython.locals(
        done=Py_ssize_t, record=Record, file=MappedFile, memory="byte*", position=Py_ssize_t,
        end=Py_ssize_t, found=int,
    )
    cpdef Py_ssize_t run(self, long long until, Py_ssize_t records_max) except -1

    @cython.locals(log_offset="long long")
    cdef void _check(self, MappedFile file, Record record) except *

    @cython.locals(transaction=int, queue=ConsumeQueue, tag_code="long long")
    cdef void _dispatch(self, const byte* memory, Record record, long long log_offset) except *

    cdef void _dispatch_inner_batch(self, const byte* memory, Record record, long long log_offset, long long tag_code) except *

    @cython.locals(due="long long")
    cdef long long _tag_code(self, const byte* memory, Record record) except? -1

    cdef long long _due_time(self, const byte* memory, long long store_timestamp) except -1

    cdef void _forget_properties(self) noexcept

    @cython.locals(
        position=Py_ssize_t, name_start=Py_ssize_t, value_start=Py_ssize_t, name_size=Py_ssize_t,
    )
    cdef void _find_properties(self, const byte* memory, Py_ssize_t start, Py_ssize_t end) noexcept

    @cython.locals(name="unsigned int")
    cdef void _note(self, const byte* memory, Py_ssize_t name_start, Py_ssize_t name_size, Py_ssize_t start, Py_ssize_t size) noexcept
