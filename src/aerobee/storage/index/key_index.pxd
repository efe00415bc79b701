import cython

from aerobee.protocol.primitives.java_hash cimport text_hash
from aerobee.protocol.primitives.machine cimport (
    address, byte, bytes_address, load_i64, load_u32, store_i64, store_u32,
)
from aerobee.storage.index.key_index_file cimport KeyIndexFile, index_hash

cdef byte _BLANK
cdef bytes _TAG_PREFIX
cdef Py_ssize_t _WAITING_MAX
cdef Py_ssize_t _WAITING_BYTES

cdef class KeyIndex:
    cdef object _config
    cdef str _directory
    cdef object _disk
    cdef list _files
    cdef KeyIndexFile _last
    cdef bint _names_changed
    cdef Py_ssize_t _newest_keys
    cdef long long _newest_offset
    cdef Py_ssize_t _settled
    cdef Py_ssize_t _skip
    cdef Py_ssize_t _waiting
    cdef byte* _waiting_memory
    cdef object _waiting_view

    @cython.locals(position=Py_ssize_t, end=Py_ssize_t, start=Py_ssize_t, key_hash="unsigned int", count=int)
    cdef int put_keys_of(
        self, unsigned int prefix_hash, const byte* memory,
        Py_ssize_t unique_start, Py_ssize_t unique_size,
        Py_ssize_t keys_start, Py_ssize_t keys_size,
        Py_ssize_t tags_start, Py_ssize_t tags_size,
        long long log_offset, long long store_timestamp,
    ) except -1

    @cython.locals(after_unique=Py_ssize_t, after_keys=Py_ssize_t)
    cpdef int put_keys(
        self, bytes topic, bytes unique, bytes keys, bytes tags,
        long long log_offset, long long store_timestamp,
    ) except -1

    @cython.locals(key_hash="unsigned int", at=Py_ssize_t)
    cdef int _put(self, unsigned int key_text_hash, long long log_offset, long long store_timestamp) except -1
    @cython.locals(
        memory="byte*", at=Py_ssize_t, key_hash="unsigned int", log_offset="long long",
        store_timestamp="long long",
    )
    cdef int _settle(self) except -1

    @cython.locals(file=KeyIndexFile)
    cdef KeyIndexFile _roll(self, long long store_timestamp)

    @cython.locals(file=KeyIndexFile, key_hash="unsigned int")
    cpdef list find(self, bytes topic, bytes key, long long begin_ms, long long end_ms, Py_ssize_t limit)

cpdef unsigned int topic_hash(bytes topic) except? 0xFFFFFFFF
