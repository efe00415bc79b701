# C twins of json_bytes.py. Nothing here checks a bound: callers have.

from aerobee.protocol.primitives.machine cimport byte

cdef extern from *:
    """
    #ifndef AEROBEE_JSON_MACHINE
    #define AEROBEE_JSON_MACHINE

    #if defined(__SSE2__)
    #include <emmintrin.h>
    /* One bit for each of 16 bytes that is not plain. As signed bytes, control characters and
       everything from 0x80 up are both below the space. */
    static inline unsigned aerobee_not_plain(__m128i v) {
        return (unsigned)_mm_movemask_epi8(_mm_or_si128(
            _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
            _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                         _mm_cmpeq_epi8(v, _mm_set1_epi8('\\\\')))));
    }
    #endif

    static inline int aerobee_is_plain(unsigned char c) {
        return c >= 0x20 && c < 0x80 && c != '"' && c != '\\\\';
    }

    static inline Py_ssize_t aerobee_plain_end(const unsigned char* m, Py_ssize_t at,
                                               Py_ssize_t end) {
    #if defined(__SSE2__)
        while (end - at >= 16) {
            unsigned stops = aerobee_not_plain(_mm_loadu_si128((const __m128i*)(m + at)));
            if (stops) return at + __builtin_ctz(stops);
            at += 16;
        }
    #endif
        while (at < end && aerobee_is_plain(m[at])) at++;
        return at;
    }

    static inline Py_ssize_t aerobee_name_end(const unsigned char* m, Py_ssize_t at,
                                              Py_ssize_t end) {
        if (at == end || m[at] != '"') return -1;
        at = aerobee_plain_end(m, at + 1, end);
        return end - at < 3 || m[at] != '"' || m[at + 1] != ':' ? -1 : at;
    }

    static inline Py_ssize_t aerobee_copy_plain(unsigned char* target, Py_ssize_t target_at,
                                                Py_ssize_t target_end, const unsigned char* m,
                                                Py_ssize_t at, Py_ssize_t end) {
    #if defined(__SSE2__)
        while (end - at >= 16 && target_end - target_at >= 16) {
            __m128i v = _mm_loadu_si128((const __m128i*)(m + at));
            unsigned stops = aerobee_not_plain(v);
            _mm_storeu_si128((__m128i*)(target + target_at), v);
            if (stops) return at + __builtin_ctz(stops);
            at += 16; target_at += 16;
        }
    #endif
        while (at < end && target_at < target_end && aerobee_is_plain(m[at]))
            target[target_at++] = m[at++];
        return at;
    }

    static inline int aerobee_is_utf8(const unsigned char* m, Py_ssize_t at, Py_ssize_t end) {
        while (at < end) {
    #if defined(__SSE2__)
            while (end - at >= 16
                   && _mm_movemask_epi8(_mm_loadu_si128((const __m128i*)(m + at))) == 0) at += 16;
            if (at == end) break;
    #endif
            unsigned char c = m[at++];
            unsigned char low = 0x80, high = 0xBF;   /* bounds of the second byte */
            int more;
            if (c < 0x80) continue;
            if (c < 0xC2) return 0;                  /* a lone continuation, or overlong */
            if (c < 0xE0) more = 1;
            else if (c < 0xF0) {
                more = 2;
                if (c == 0xE0) low = 0xA0;           /* overlong below */
                if (c == 0xED) high = 0x9F;          /* surrogates above */
            } else if (c < 0xF5) {
                more = 3;
                if (c == 0xF0) low = 0x90;           /* overlong below */
                if (c == 0xF4) high = 0x8F;          /* beyond U+10FFFF above */
            } else return 0;
            if (end - at < more || m[at] < low || m[at] > high) return 0;
            for (at++; --more > 0; at++)
                if ((m[at] & 0xC0) != 0x80) return 0;
        }
        return 1;
    }

    static inline PyObject* aerobee_text_at(const unsigned char* m, Py_ssize_t at,
                                            Py_ssize_t end) {
        return PyUnicode_DecodeUTF8((const char*)m + at, end - at, NULL);
    }

    static inline int aerobee_hex_digit(unsigned char c) {
        if (c >= '0' && c <= '9') return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }

    static inline int aerobee_escaped_unit(const unsigned char* m, Py_ssize_t at) {
        const unsigned char* p = m + at + 1;
        int unit;
        switch (*p) {
        case 'u':
            /* The separators of properties, as every client writes them. */
            if (memcmp(p, "u000", 4) == 0 && p[4] >= '0' && p[4] <= '9') return p[4] - '0';
            unit = aerobee_hex_digit(p[1]) * 4096 | aerobee_hex_digit(p[2]) * 256
                 | aerobee_hex_digit(p[3]) * 16 | aerobee_hex_digit(p[4]);
            return unit < 0 || (unit >= 0xD800 && unit < 0xE000) ? -1 : unit;
        case '"': case '\\\\': case '/': return *p;
        case 'b': return 8;
        case 'f': return 12;
        case 'n': return 10;
        case 'r': return 13;
        case 't': return 9;
        default: return -1;
        }
    }

    static inline Py_ssize_t aerobee_put_character(unsigned char* target, Py_ssize_t at,
                                                   int unit) {
        if (unit < 0x80) {
            target[at++] = (unsigned char)unit;
        } else if (unit < 0x800) {
            target[at++] = (unsigned char)(0xC0 | unit >> 6);
            target[at++] = (unsigned char)(0x80 | (unit & 0x3F));
        } else {
            target[at++] = (unsigned char)(0xE0 | unit >> 12);
            target[at++] = (unsigned char)(0x80 | (unit >> 6 & 0x3F));
            target[at++] = (unsigned char)(0x80 | (unit & 0x3F));
        }
        return at;
    }

    static inline Py_ssize_t aerobee_number_end(const unsigned char* m, Py_ssize_t at,
                                                Py_ssize_t end) {
        if (at < end && m[at] == '-') at++;
        while (at < end && (unsigned char)(m[at] - '0') <= 9) at++;
        return at;
    }

    static inline int aerobee_is_bare_integer(const unsigned char* m, Py_ssize_t at,
                                              Py_ssize_t end) {
        if (m[at] == '-') at++;
        return end - at == 1 || m[at] != '0';
    }

    static inline long long aerobee_parse_decimal(const unsigned char* m, Py_ssize_t at,
                                                  Py_ssize_t end) {
        int is_negative = at < end && m[at] == '-';
        uint64_t value = 0;
        at += is_negative;
        if (end - at < 1 || end - at > 19) return INT64_MIN;
        for (; at < end; at++) {
            unsigned char digit = (unsigned char)(m[at] - '0');
            if (digit > 9) return INT64_MIN;
            value = value * 10 + digit;
        }
        if (value >> 63) return INT64_MIN;
        return is_negative ? -(int64_t)value : (int64_t)value;
    }

    static inline long long aerobee_bare_int32(const unsigned char* m, Py_ssize_t at,
                                               Py_ssize_t end) {
        long long number = aerobee_parse_decimal(m, at, end);
        return number < INT32_MIN || number > INT32_MAX || !aerobee_is_bare_integer(m, at, end)
            ? INT64_MIN : number;
    }
    #endif
    """
    long long NO_NUMBER "INT64_MIN"
    Py_ssize_t plain_end "aerobee_plain_end"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    Py_ssize_t name_end "aerobee_name_end"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    Py_ssize_t copy_plain "aerobee_copy_plain"(byte* target, Py_ssize_t target_position, Py_ssize_t target_end, const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    bint is_utf8 "aerobee_is_utf8"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    str text_at "aerobee_text_at"(const byte* memory, Py_ssize_t position, Py_ssize_t end)
    int hex_digit "aerobee_hex_digit"(byte c) noexcept nogil
    int escaped_unit "aerobee_escaped_unit"(const byte* memory, Py_ssize_t position) noexcept nogil
    Py_ssize_t put_character "aerobee_put_character"(byte* target, Py_ssize_t position, int unit) noexcept nogil
    Py_ssize_t number_end "aerobee_number_end"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    bint is_bare_integer "aerobee_is_bare_integer"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    long long parse_decimal "aerobee_parse_decimal"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
    long long bare_int32 "aerobee_bare_int32"(const byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
