# C twin of byte_search.py. Nothing here checks a bound: callers have.

from aerobee.protocol.primitives.machine cimport byte

cdef extern from *:
    """
    #ifndef AEROBEE_SEARCH_MACHINE
    #define AEROBEE_SEARCH_MACHINE
    #include <string.h>

    static inline Py_ssize_t aerobee_find_byte(const unsigned char* m, int value, Py_ssize_t at,
                                               Py_ssize_t end) {
        const void* found = memchr(m + at, value, (size_t)(end - at));
        return found ? (const unsigned char*)found - m : end;
    }
    #endif
    """
    Py_ssize_t find_byte "aerobee_find_byte"(const byte* memory, int value, Py_ssize_t position, Py_ssize_t end) noexcept nogil
