# C twins of send_name.py. Nothing here checks a bound: callers have.

from aerobee.protocol.primitives.machine cimport byte

cdef extern from *:
    """
    #ifndef AEROBEE_SEND_MACHINE
    #define AEROBEE_SEND_MACHINE

    #define AEROBEE_NAME(text, value) if (memcmp(p, text, sizeof(text) - 1) == 0) return value

    static inline int aerobee_top_name(const unsigned char* m, Py_ssize_t at, Py_ssize_t size) {
        const unsigned char* p = m + at;
        switch (size) {
        case 4: AEROBEE_NAME("code", 1); AEROBEE_NAME("flag", 2); return 0;
        case 6: AEROBEE_NAME("opaque", 3); AEROBEE_NAME("remark", 6); return 0;
        case 7: AEROBEE_NAME("version", 4); return 0;
        case 8: AEROBEE_NAME("language", 5); return 0;
        case 9: AEROBEE_NAME("extFields", 8); return 0;
        case 23: AEROBEE_NAME("serializeTypeCurrentRPC", 7); return 0;
        default: return 0;
        }
    }

    static inline int aerobee_long_name(const unsigned char* m, Py_ssize_t at, Py_ssize_t size) {
        const unsigned char* p = m + at;
        switch (size) {
        case 4: AEROBEE_NAME("flag", 'h'); return 0;
        case 5: AEROBEE_NAME("topic", 'b'); AEROBEE_NAME("batch", 'm'); AEROBEE_NAME("bname", 'n');
                return 0;
        case 7: AEROBEE_NAME("queueId", 'e'); AEROBEE_NAME("sysFlag", 'f'); return 0;
        case 8: AEROBEE_NAME("unitMode", 'k'); return 0;
        case 10: AEROBEE_NAME("properties", 'i'); return 0;
        case 12: AEROBEE_NAME("defaultTopic", 'c'); return 0;
        case 13: AEROBEE_NAME("producerGroup", 'a'); AEROBEE_NAME("bornTimestamp", 'g'); return 0;
        case 14: AEROBEE_NAME("reconsumeTimes", 'j'); return 0;
        case 17: AEROBEE_NAME("maxReconsumeTimes", 'l'); return 0;
        case 21: AEROBEE_NAME("defaultTopicQueueNums", 'd'); return 0;
        default: return 0;
        }
    }

    static inline int aerobee_short_name(const unsigned char* m, Py_ssize_t at, Py_ssize_t size) {
        return size == 1 && m[at] >= 'a' && m[at] <= 'n' ? m[at] : 0;
    }

    static inline unsigned char* aerobee_memory_part(unsigned char* m, Py_ssize_t at,
                                                     Py_ssize_t end) {
        (void)end;
        return m + at;
    }
    #endif
    """
    int top_name "aerobee_top_name"(const byte* memory, Py_ssize_t position, Py_ssize_t size) noexcept nogil
    int long_name "aerobee_long_name"(const byte* memory, Py_ssize_t position, Py_ssize_t size) noexcept nogil
    int short_name "aerobee_short_name"(const byte* memory, Py_ssize_t position, Py_ssize_t size) noexcept nogil
    byte* memory_part "aerobee_memory_part"(byte* memory, Py_ssize_t position, Py_ssize_t end) noexcept nogil
