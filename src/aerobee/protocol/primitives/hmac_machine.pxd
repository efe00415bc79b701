# C twins of hmac_sha1.py. Nothing here checks a bound: callers have.
#
# A prepared key is the two states of SHA-1 after the inner and after the outer block of HMAC
# (RFC 2104), so that a sum costs no more than the blocks of the text and one more.

from aerobee.protocol.primitives.machine cimport byte

cdef extern from *:
    """
    #ifndef AEROBEE_HMAC_MACHINE
    #define AEROBEE_HMAC_MACHINE

    static inline uint32_t aerobee_rol(uint32_t x, int n) { return x << n | x >> (32 - n); }

    static inline void aerobee_sha1_plain(uint32_t* state, const unsigned char* p, size_t blocks) {
        uint32_t w[16];
        for (; blocks; blocks--, p += 64) {
            uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], t;
            for (int i = 0; i < 16; i++) {
                memcpy(&t, p + 4 * i, 4);
                w[i] = AEROBEE_BE32(t);
            }
    #define AEROBEE_STEP(f, k, word) \\
            t = aerobee_rol(a, 5) + (f) + e + k + (word); \\
            e = d; d = c; c = aerobee_rol(b, 30); b = a; a = t;
    #define AEROBEE_WORD(i) (w[(i) & 15] = aerobee_rol( \\
            w[((i) + 13) & 15] ^ w[((i) + 8) & 15] ^ w[((i) + 2) & 15] ^ w[(i) & 15], 1))
            for (int i = 0; i < 16; i++) { AEROBEE_STEP(d ^ (b & (c ^ d)), 0x5A827999u, w[i]) }
            for (int i = 16; i < 20; i++) {
                AEROBEE_STEP(d ^ (b & (c ^ d)), 0x5A827999u, AEROBEE_WORD(i))
            }
            for (int i = 20; i < 40; i++) { AEROBEE_STEP(b ^ c ^ d, 0x6ED9EBA1u, AEROBEE_WORD(i)) }
            for (int i = 40; i < 60; i++) {
                AEROBEE_STEP((b & c) | (d & (b | c)), 0x8F1BBCDCu, AEROBEE_WORD(i))
            }
            for (int i = 60; i < 80; i++) { AEROBEE_STEP(b ^ c ^ d, 0xCA62C1D6u, AEROBEE_WORD(i)) }
    #undef AEROBEE_STEP
    #undef AEROBEE_WORD
            state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e;
        }
    }

    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    /* Four rounds to an instruction, where the processor has them. */
    __attribute__((target("sha,sse4.1,ssse3")))
    static void aerobee_sha1_fast(uint32_t* state, const unsigned char* p, size_t blocks) {
        const __m128i order = _mm_set_epi64x(0x0001020304050607LL, 0x08090a0b0c0d0e0fLL);
        __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)state), 0x1B);
        __m128i e = _mm_set_epi32((int)state[4], 0, 0, 0);
        for (; blocks; blocks--, p += 64) {
            __m128i abcd_before = abcd, e_before = e, last, m[4];
            for (int i = 0; i < 4; i++)
                m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)(p + 16 * i)), order);
            e = _mm_add_epi32(e, m[0]);
    /* Four rounds with the words in m[g & 3]; then the words that come four groups later. */
    #define AEROBEE_GROUP(g, f) \\
            if (g) e = _mm_sha1nexte_epu32(last, m[(g) & 3]); \\
            last = abcd; \\
            abcd = _mm_sha1rnds4_epu32(abcd, e, f); \\
            if ((g) < 16) m[(g) & 3] = _mm_sha1msg2_epu32(_mm_xor_si128( \\
                _mm_sha1msg1_epu32(m[(g) & 3], m[((g) + 1) & 3]), m[((g) + 2) & 3]), \\
                m[((g) + 3) & 3]);
            AEROBEE_GROUP(0, 0) AEROBEE_GROUP(1, 0) AEROBEE_GROUP(2, 0) AEROBEE_GROUP(3, 0)
            AEROBEE_GROUP(4, 0) AEROBEE_GROUP(5, 1) AEROBEE_GROUP(6, 1) AEROBEE_GROUP(7, 1)
            AEROBEE_GROUP(8, 1) AEROBEE_GROUP(9, 1) AEROBEE_GROUP(10, 2) AEROBEE_GROUP(11, 2)
            AEROBEE_GROUP(12, 2) AEROBEE_GROUP(13, 2) AEROBEE_GROUP(14, 2) AEROBEE_GROUP(15, 3)
            AEROBEE_GROUP(16, 3) AEROBEE_GROUP(17, 3) AEROBEE_GROUP(18, 3) AEROBEE_GROUP(19, 3)
    #undef AEROBEE_GROUP
            e = _mm_sha1nexte_epu32(last, e_before);
            abcd = _mm_add_epi32(abcd, abcd_before);
        }
        _mm_storeu_si128((__m128i*)state, _mm_shuffle_epi32(abcd, 0x1B));
        state[4] = (uint32_t)_mm_extract_epi32(e, 3);
    }
    #include <cpuid.h>
    static int aerobee_sha1_kind = 0;   /* 0 unknown, 1 plain, 2 fast; found under the GIL */
    static int aerobee_has_sha(void) {
        unsigned a, b, c, d;
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1)
            && __get_cpuid(1, &a, &b, &c, &d) && (c >> 9 & 1) && (c >> 19 & 1);
    }
    #endif

    /* For tests: 1 plain, 2 as the processor can. */
    static inline void aerobee_choose_sha1(int kind) {
    #if defined(__x86_64__) && defined(__GNUC__)
        aerobee_sha1_kind = kind == 1 ? 1 : 0;
    #else
        (void)kind;
    #endif
    }

    static inline void aerobee_sha1_blocks(uint32_t* state, const unsigned char* p, size_t blocks) {
    #if defined(__x86_64__) && defined(__GNUC__)
        if (aerobee_sha1_kind == 0) aerobee_sha1_kind = aerobee_has_sha() ? 2 : 1;
        if (aerobee_sha1_kind == 2) { aerobee_sha1_fast(state, p, blocks); return; }
    #endif
        aerobee_sha1_plain(state, p, blocks);
    }

    static const uint32_t aerobee_sha1_start[5] = {
        0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u
    };

    /* The digest of text and body behind `before` bytes that are in the state already. */
    static inline void aerobee_sha1_end(uint32_t* state, uint64_t before,
                                        const unsigned char* text, size_t text_size,
                                        const unsigned char* body, size_t body_size,
                                        unsigned char* digest) {
        unsigned char block[128];
        uint64_t bits = (before + text_size + body_size) * 8;
        size_t whole = text_size / 64, filled = text_size % 64, room, rest;
        aerobee_sha1_blocks(state, text, whole);
        memcpy(block, text + whole * 64, filled);
        room = body_size < 64 - filled ? body_size : 64 - filled;
        if (room) memcpy(block + filled, body, room);
        filled += room; body += room; body_size -= room;
        if (filled == 64) {
            aerobee_sha1_blocks(state, block, 1);
            whole = body_size / 64; rest = body_size % 64;
            aerobee_sha1_blocks(state, body, whole);
            if (rest) memcpy(block, body + whole * 64, rest);
            filled = rest;
        }
        block[filled++] = 0x80;
        rest = filled <= 56 ? 64 : 128;
        memset(block + filled, 0, rest - filled);
        for (int i = 0; i < 8; i++) block[rest - 1 - i] = (unsigned char)(bits >> 8 * i);
        aerobee_sha1_blocks(state, block, rest / 64);
        for (int i = 0; i < 5; i++) {
            uint32_t word = AEROBEE_BE32(state[i]);
            memcpy(digest + 4 * i, &word, 4);
        }
    }

    static inline void aerobee_prepare_key(unsigned char* prepared, const unsigned char* key,
                                           Py_ssize_t size) {
        unsigned char block[64] = {0};
        uint32_t state[5];
        if (size > 64) {
            memcpy(state, aerobee_sha1_start, 20);
            aerobee_sha1_end(state, 0, key, (size_t)size, key, 0, block);
        } else memcpy(block, key, (size_t)size);
        for (int i = 0; i < 64; i++) block[i] ^= 0x36;
        memcpy(state, aerobee_sha1_start, 20);
        aerobee_sha1_blocks(state, block, 1);
        memcpy(prepared, state, 20);
        for (int i = 0; i < 64; i++) block[i] ^= 0x36 ^ 0x5C;
        memcpy(state, aerobee_sha1_start, 20);
        aerobee_sha1_blocks(state, block, 1);
        memcpy(prepared + 20, state, 20);
    }

    static inline void aerobee_put_hmac(unsigned char* target, const unsigned char* prepared,
                                        const unsigned char* text, Py_ssize_t text_size,
                                        const unsigned char* body, Py_ssize_t body_start,
                                        Py_ssize_t body_size) {
        static const char letters[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        unsigned char digest[21] = {0};
        uint32_t state[5];
        memcpy(state, prepared, 20);
        aerobee_sha1_end(state, 64, text, (size_t)text_size, body + body_start, (size_t)body_size,
                         digest);
        memcpy(state, prepared + 20, 20);
        unsigned char inner[20];
        memcpy(inner, digest, 20);
        aerobee_sha1_end(state, 64, inner, 20, inner, 0, digest);
        for (int i = 0; i < 7; i++) {
            uint32_t three = (uint32_t)digest[3 * i] << 16 | (uint32_t)digest[3 * i + 1] << 8
                           | digest[3 * i + 2];
            for (int j = 0; j < 4; j++)
                target[4 * i + j] = (unsigned char)letters[three >> (18 - 6 * j) & 63];
        }
        target[27] = '=';
    }

    static inline int aerobee_is_same_text(const unsigned char* known, const unsigned char* said,
                                           Py_ssize_t at) {
        unsigned differences = 0;
        for (int i = 0; i < 28; i++) differences |= (unsigned)(known[i] ^ said[at + i]);
        return differences == 0;
    }
    #endif
    """
    void prepare_key "aerobee_prepare_key"(byte* prepared, const byte* key, Py_ssize_t size) noexcept
    void put_hmac "aerobee_put_hmac"(byte* target, const byte* prepared, const byte* text, Py_ssize_t text_size, const byte* body, Py_ssize_t body_start, Py_ssize_t body_size) noexcept
    bint is_same_text "aerobee_is_same_text"(const byte* known, const byte* said, Py_ssize_t position) noexcept
    void choose_sha1 "aerobee_choose_sha1"(int kind) noexcept
