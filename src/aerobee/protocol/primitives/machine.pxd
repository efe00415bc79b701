# C twins of big_endian.py and crc32.py, inlined into every compiled module that cimports them.
#
# Nothing here checks a bound: callers have compared position and size with the end of the memory
# before. tests/parity runs each twin against its Python original on the same inputs.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #include <stddef.h>

    #ifndef AEROBEE_MACHINE
    #define AEROBEE_MACHINE

    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define AEROBEE_BE16(x) (x)
    #define AEROBEE_BE32(x) (x)
    #define AEROBEE_BE64(x) (x)
    #else
    #define AEROBEE_BE16(x) __builtin_bswap16(x)
    #define AEROBEE_BE32(x) __builtin_bswap32(x)
    #define AEROBEE_BE64(x) __builtin_bswap64(x)
    #endif

    typedef unsigned char aerobee_byte;

    static inline aerobee_byte* aerobee_address(PyObject* view) {
        return (aerobee_byte*)PyMemoryView_GET_BUFFER(view)->buf;
    }
    static inline aerobee_byte* aerobee_bytes_address(PyObject* data) {
        return (aerobee_byte*)PyBytes_AS_STRING(data);
    }
    static inline int16_t aerobee_load_i16(const aerobee_byte* m, Py_ssize_t at) {
        uint16_t v; memcpy(&v, m + at, 2); return (int16_t)AEROBEE_BE16(v);
    }
    static inline int32_t aerobee_load_i32(const aerobee_byte* m, Py_ssize_t at) {
        uint32_t v; memcpy(&v, m + at, 4); return (int32_t)AEROBEE_BE32(v);
    }
    static inline uint32_t aerobee_load_u32(const aerobee_byte* m, Py_ssize_t at) {
        uint32_t v; memcpy(&v, m + at, 4); return AEROBEE_BE32(v);
    }
    static inline int64_t aerobee_load_i64(const aerobee_byte* m, Py_ssize_t at) {
        uint64_t v; memcpy(&v, m + at, 8); return (int64_t)AEROBEE_BE64(v);
    }
    static inline void aerobee_store_i16(aerobee_byte* m, Py_ssize_t at, int16_t value) {
        uint16_t v = AEROBEE_BE16((uint16_t)value); memcpy(m + at, &v, 2);
    }
    static inline void aerobee_store_i32(aerobee_byte* m, Py_ssize_t at, int32_t value) {
        uint32_t v = AEROBEE_BE32((uint32_t)value); memcpy(m + at, &v, 4);
    }
    static inline void aerobee_store_u32(aerobee_byte* m, Py_ssize_t at, uint32_t value) {
        uint32_t v = AEROBEE_BE32(value); memcpy(m + at, &v, 4);
    }
    static inline void aerobee_store_i64(aerobee_byte* m, Py_ssize_t at, int64_t value) {
        uint64_t v = AEROBEE_BE64((uint64_t)value); memcpy(m + at, &v, 8);
    }
    static inline void aerobee_copy_bytes(aerobee_byte* target, Py_ssize_t target_at,
                                          const aerobee_byte* source, Py_ssize_t source_at,
                                          Py_ssize_t size) {
        memcpy(target + target_at, source + source_at, (size_t)size);
    }
    static inline void aerobee_zero_bytes(aerobee_byte* m, Py_ssize_t at, Py_ssize_t size) {
        memset(m + at, 0, (size_t)size);
    }
    static inline int aerobee_same_bytes(const aerobee_byte* left, Py_ssize_t left_at,
                                         const aerobee_byte* right, Py_ssize_t right_at,
                                         Py_ssize_t size) {
        return memcmp(left + left_at, right + right_at, (size_t)size) == 0;
    }
    static inline PyObject* aerobee_bytes_at(const aerobee_byte* m, Py_ssize_t at,
                                             Py_ssize_t size) {
        return PyBytes_FromStringAndSize((const char*)m + at, size);
    }

    /* CRC-32, reflected polynomial 0xEDB88320. */

    static uint32_t aerobee_crc_table[8][256];
    static int aerobee_crc_ready = 0;   /* built under the GIL by the first call */
    static int aerobee_crc_folds = 0;

    static void aerobee_crc_prepare(void) {
        for (uint32_t n = 0; n < 256; n++) {
            uint32_t c = n;
            for (int k = 0; k < 8; k++) c = (c & 1) ? (c >> 1) ^ 0xEDB88320u : c >> 1;
            aerobee_crc_table[0][n] = c;
        }
        for (uint32_t n = 0; n < 256; n++)
            for (int k = 1; k < 8; k++) {
                uint32_t c = aerobee_crc_table[k - 1][n];
                aerobee_crc_table[k][n] = (c >> 8) ^ aerobee_crc_table[0][c & 0xff];
            }
    #if defined(__x86_64__) && defined(__GNUC__)
        __builtin_cpu_init();
        aerobee_crc_folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    #endif
        aerobee_crc_ready = 1;
    }

    static inline uint32_t aerobee_crc_bytes(uint32_t c, const aerobee_byte* p, size_t n) {
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        while (n >= 8) {
            uint32_t a, b; memcpy(&a, p, 4); memcpy(&b, p + 4, 4); a ^= c;
            c = aerobee_crc_table[7][a & 0xff] ^ aerobee_crc_table[6][(a >> 8) & 0xff]
              ^ aerobee_crc_table[5][(a >> 16) & 0xff] ^ aerobee_crc_table[4][a >> 24]
              ^ aerobee_crc_table[3][b & 0xff] ^ aerobee_crc_table[2][(b >> 8) & 0xff]
              ^ aerobee_crc_table[1][(b >> 16) & 0xff] ^ aerobee_crc_table[0][b >> 24];
            p += 8; n -= 8;
        }
    #endif
        while (n--) c = (c >> 8) ^ aerobee_crc_table[0][(c ^ *p++) & 0xff];
        return c;
    }

    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    /* Four 128-bit lanes are folded 64 bytes ahead, then into one, then 16 bytes at a time. Each
       constant is x^n mod P, bit-reflected: n = 4*128+32 and 4*128-32 for the four lanes,
       128+32 and 128-32 for one. The last 16 bytes of state go through the table. */
    __attribute__((target("pclmul,sse4.1")))
    static uint32_t aerobee_crc_fold(uint32_t c, const aerobee_byte* p, size_t n) {
        const __m128i k64 = _mm_set_epi64x(0x1c6e41596LL, 0x154442bd4LL);
        const __m128i k16 = _mm_set_epi64x(0x0ccaa009eLL, 0x1751997d0LL);
        __m128i a = _mm_xor_si128(_mm_loadu_si128((const __m128i*)p), _mm_cvtsi32_si128((int)c));
        __m128i b = _mm_loadu_si128((const __m128i*)(p + 16));
        __m128i d = _mm_loadu_si128((const __m128i*)(p + 32));
        __m128i e = _mm_loadu_si128((const __m128i*)(p + 48));
        p += 64; n -= 64;
    #define AEROBEE_FOLD(x, k, y) _mm_xor_si128(_mm_xor_si128( \\
            _mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11)), y)
        while (n >= 64) {
            a = AEROBEE_FOLD(a, k64, _mm_loadu_si128((const __m128i*)p));
            b = AEROBEE_FOLD(b, k64, _mm_loadu_si128((const __m128i*)(p + 16)));
            d = AEROBEE_FOLD(d, k64, _mm_loadu_si128((const __m128i*)(p + 32)));
            e = AEROBEE_FOLD(e, k64, _mm_loadu_si128((const __m128i*)(p + 48)));
            p += 64; n -= 64;
        }
        b = AEROBEE_FOLD(a, k16, b);
        d = AEROBEE_FOLD(b, k16, d);
        e = AEROBEE_FOLD(d, k16, e);
        while (n >= 16) {
            e = AEROBEE_FOLD(e, k16, _mm_loadu_si128((const __m128i*)p));
            p += 16; n -= 16;
        }
    #undef AEROBEE_FOLD
        aerobee_byte rest[16]; _mm_storeu_si128((__m128i*)rest, e);
        return aerobee_crc_bytes(aerobee_crc_bytes(0, rest, 16), p, n);
    }
    #endif

    static inline uint32_t aerobee_crc32(const aerobee_byte* m, Py_ssize_t at, Py_ssize_t size,
                                         uint32_t start) {
        if (!aerobee_crc_ready) aerobee_crc_prepare();
    #if defined(__x86_64__) && defined(__GNUC__)
        if (aerobee_crc_folds && size >= 64)
            return ~aerobee_crc_fold(~start, m + at, (size_t)size);
    #endif
        return ~aerobee_crc_bytes(~start, m + at, (size_t)size);
    }
    #endif
    """
    ctypedef unsigned char byte "aerobee_byte"
    byte* address "aerobee_address"(object view) noexcept
    byte* bytes_address "aerobee_bytes_address"(bytes data) noexcept
    short load_i16 "aerobee_load_i16"(const byte* memory, Py_ssize_t position) noexcept nogil
    int load_i32 "aerobee_load_i32"(const byte* memory, Py_ssize_t position) noexcept nogil
    unsigned int load_u32 "aerobee_load_u32"(const byte* memory, Py_ssize_t position) noexcept nogil
    long long load_i64 "aerobee_load_i64"(const byte* memory, Py_ssize_t position) noexcept nogil
    void store_i16 "aerobee_store_i16"(byte* memory, Py_ssize_t position, short value) noexcept nogil
    void store_i32 "aerobee_store_i32"(byte* memory, Py_ssize_t position, int value) noexcept nogil
    void store_u32 "aerobee_store_u32"(byte* memory, Py_ssize_t position, unsigned int value) noexcept nogil
    void store_i64 "aerobee_store_i64"(byte* memory, Py_ssize_t position, long long value) noexcept nogil
    void copy_bytes "aerobee_copy_bytes"(byte* target, Py_ssize_t target_position, const byte* source, Py_ssize_t source_position, Py_ssize_t size) noexcept nogil
    void zero_bytes "aerobee_zero_bytes"(byte* memory, Py_ssize_t position, Py_ssize_t size) noexcept nogil
    bint same_bytes "aerobee_same_bytes"(const byte* left, Py_ssize_t left_position, const byte* right, Py_ssize_t right_position, Py_ssize_t size) noexcept nogil
    bytes bytes_at "aerobee_bytes_at"(const byte* memory, Py_ssize_t position, Py_ssize_t size)
    unsigned int crc32 "aerobee_crc32"(const byte* memory, Py_ssize_t position, Py_ssize_t size, unsigned int start) noexcept nogil
