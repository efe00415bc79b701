# C twins of native_order.py. Nothing here checks a bound: callers have.

from aerobee.protocol.primitives.machine cimport byte

cdef extern from *:
    """
    #ifndef AEROBEE_COLUMN_MACHINE
    #define AEROBEE_COLUMN_MACHINE
    #include <stdint.h>
    #include <string.h>

    static inline void aerobee_put_i32(unsigned char* m, Py_ssize_t at, int32_t value) {
        memcpy(m + at, &value, 4);
    }
    static inline void aerobee_put_i64(unsigned char* m, Py_ssize_t at, int64_t value) {
        memcpy(m + at, &value, 8);
    }
    static inline void aerobee_put_bit(unsigned char* m, Py_ssize_t index) {
        m[index >> 3] |= (unsigned char)(1u << (index & 7));
    }
    static inline int32_t aerobee_get_i32(const unsigned char* m, Py_ssize_t at) {
        int32_t value; memcpy(&value, m + at, 4); return value;
    }
    static inline int64_t aerobee_get_i64(const unsigned char* m, Py_ssize_t at) {
        int64_t value; memcpy(&value, m + at, 8); return value;
    }
    static inline int aerobee_get_bit(const unsigned char* m, Py_ssize_t index) {
        return (m[index >> 3] >> (index & 7)) & 1;
    }
    static inline int aerobee_is_ascii(const unsigned char* m, Py_ssize_t at, Py_ssize_t size) {
        const unsigned char* p = m + at;
        uint64_t seen = 0;
        while (size >= 8) { uint64_t v; memcpy(&v, p, 8); seen |= v; p += 8; size -= 8; }
        while (size-- > 0) seen |= *p++;
        return (seen & 0x8080808080808080ULL) == 0;
    }
    #endif
    """
    void put_i32 "aerobee_put_i32"(byte* memory, Py_ssize_t position, int value) noexcept nogil
    void put_i64 "aerobee_put_i64"(byte* memory, Py_ssize_t position, long long value) noexcept nogil
    void put_bit "aerobee_put_bit"(byte* memory, Py_ssize_t index) noexcept nogil
    int get_i32 "aerobee_get_i32"(const byte* memory, Py_ssize_t position) noexcept nogil
    long long get_i64 "aerobee_get_i64"(const byte* memory, Py_ssize_t position) noexcept nogil
    bint get_bit "aerobee_get_bit"(const byte* memory, Py_ssize_t index) noexcept nogil
    bint is_ascii_at "aerobee_is_ascii"(const byte* memory, Py_ssize_t position, Py_ssize_t size) noexcept nogil
