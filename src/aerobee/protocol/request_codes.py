"""Every request code: its number, who serves it, and for whom it is.

Serves: B broker, N name server, C client (the broker asks), K controller, X broker container; no
letter: the number exists and nobody serves it, so the answer is REQUEST_CODE_NOT_SUPPORTED.

Marks: core, what ordinary clients and brokers send; admin, tools; ha, brokers among themselves;
raft, the controller; pop, consumption by acknowledgement; rare, what few ever see.

The numbers are those of RocketMQ's RequestCode; those that 5.5.0 added were seen on the wire.
Those from 28000 on, below POP's, are ours: what RocketMQ has no request for.
"""

from enum import IntEnum


class RequestCode(IntEnum):
    """A number with what is known of it."""

    serves: str
    marks: tuple[str, ...]

    def __new__(cls, number: int, serves: str, marks: str) -> "RequestCode":
        code = int.__new__(cls, number)
        code._value_ = number
        code.serves = serves
        code.marks = tuple(marks.split())
        return code

    SEND_MESSAGE = 10, "B", "core"
    PULL_MESSAGE = 11, "B", "core"
    QUERY_MESSAGE = 12, "B", "core"
    QUERY_BROKER_OFFSET = 13, "", "rare"
    QUERY_CONSUMER_OFFSET = 14, "B", "core"
    UPDATE_CONSUMER_OFFSET = 15, "B", "core"
    UPDATE_AND_CREATE_TOPIC = 17, "B", "admin"
    UPDATE_AND_CREATE_TOPIC_LIST = 18, "B", "admin"
    GET_ALL_TOPIC_CONFIG = 21, "B", "admin ha"
    GET_TOPIC_CONFIG_LIST = 22, "", "rare"
    GET_TOPIC_NAME_LIST = 23, "", "rare"
    UPDATE_BROKER_CONFIG = 25, "B", "admin"
    GET_BROKER_CONFIG = 26, "B", "admin"
    TRIGGER_DELETE_FILES = 27, "", "rare"
    GET_BROKER_RUNTIME_INFO = 28, "B", "admin"
    SEARCH_OFFSET_BY_TIMESTAMP = 29, "B", "core"
    GET_MAX_OFFSET = 30, "B", "core"
    GET_MIN_OFFSET = 31, "B", "core"
    GET_EARLIEST_MSG_STORETIME = 32, "B", "core"
    VIEW_MESSAGE_BY_ID = 33, "B", "core"
    HEART_BEAT = 34, "B", "core"
    UNREGISTER_CLIENT = 35, "B", "core"
    CONSUMER_SEND_MSG_BACK = 36, "B", "core"
    END_TRANSACTION = 37, "B", "core"
    GET_CONSUMER_LIST_BY_GROUP = 38, "B", "core"
    CHECK_TRANSACTION_STATE = 39, "C", "core"
    NOTIFY_CONSUMER_IDS_CHANGED = 40, "C", "core"
    LOCK_BATCH_MQ = 41, "B", "core"
    UNLOCK_BATCH_MQ = 42, "B", "core"
    GET_ALL_CONSUMER_OFFSET = 43, "B", "ha"
    GET_ALL_DELAY_OFFSET = 45, "B", "ha"
    CHECK_CLIENT_CONFIG = 46, "B", "core"
    GET_CLIENT_CONFIG = 47, "", "rare"
    UPDATE_AND_CREATE_ACL_CONFIG = 50, "", "rare"
    DELETE_ACL_CONFIG = 51, "", "rare"
    GET_BROKER_CLUSTER_ACL_INFO = 52, "", "rare"
    UPDATE_GLOBAL_WHITE_ADDRS_CONFIG = 53, "", "rare"
    GET_BROKER_CLUSTER_ACL_CONFIG = 54, "", "rare"
    GET_TIMER_CHECK_POINT = 60, "B", "ha"
    GET_TIMER_METRICS = 61, "B", "ha"
    PUT_KV_CONFIG = 100, "N", "admin"
    GET_KV_CONFIG = 101, "N", "admin"
    DELETE_KV_CONFIG = 102, "N", "admin"
    REGISTER_BROKER = 103, "N", "core"
    UNREGISTER_BROKER = 104, "N", "core"
    GET_ROUTEINFO_BY_TOPIC = 105, "N", "core"
    GET_BROKER_CLUSTER_INFO = 106, "N", "admin"
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200, "B", "admin"
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201, "B", "admin ha"
    GET_TOPIC_STATS_INFO = 202, "B", "admin"
    GET_CONSUMER_CONNECTION_LIST = 203, "B", "admin"
    GET_PRODUCER_CONNECTION_LIST = 204, "B", "admin"
    WIPE_WRITE_PERM_OF_BROKER = 205, "N", "admin"
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206, "N", "admin"
    DELETE_SUBSCRIPTIONGROUP = 207, "B", "admin"
    GET_CONSUME_STATS = 208, "B", "admin"
    SUSPEND_CONSUMER = 209, "", "rare"
    RESUME_CONSUMER = 210, "", "rare"
    RESET_CONSUMER_OFFSET_IN_CONSUMER = 211, "", "rare"
    RESET_CONSUMER_OFFSET_IN_BROKER = 212, "", "rare"
    ADJUST_CONSUMER_THREAD_POOL = 213, "", "rare"
    WHO_CONSUME_THE_MESSAGE = 214, "", "rare"
    DELETE_TOPIC_IN_BROKER = 215, "B", "admin"
    DELETE_TOPIC_IN_NAMESRV = 216, "N", "admin"
    REGISTER_TOPIC_IN_NAMESRV = 217, "N", "rare"
    GET_KVLIST_BY_NAMESPACE = 219, "N", "admin"
    RESET_CONSUMER_CLIENT_OFFSET = 220, "C", "admin"
    GET_CONSUMER_STATUS_FROM_CLIENT = 221, "C", "admin"
    INVOKE_BROKER_TO_RESET_OFFSET = 222, "B", "admin"
    INVOKE_BROKER_TO_GET_CONSUMER_STATUS = 223, "B", "admin"
    GET_TOPICS_BY_CLUSTER = 224, "N", "admin"
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST = 225, "B", "admin"
    QUERY_TOPIC_CONSUME_BY_WHO = 300, "B", "admin"
    REGISTER_FILTER_SERVER = 301, "", "rare"
    REGISTER_MESSAGE_FILTER_CLASS = 302, "", "rare"
    QUERY_CONSUME_TIME_SPAN = 303, "B", "admin"
    GET_SYSTEM_TOPIC_LIST_FROM_NS = 304, "N", "admin"
    GET_SYSTEM_TOPIC_LIST_FROM_BROKER = 305, "B", "admin"
    CLEAN_EXPIRED_CONSUMEQUEUE = 306, "B", "admin"
    GET_CONSUMER_RUNNING_INFO = 307, "BC", "admin"
    QUERY_CORRECTION_OFFSET = 308, "B", "rare"
    CONSUME_MESSAGE_DIRECTLY = 309, "BC", "admin"
    SEND_MESSAGE_V2 = 310, "B", "core"
    GET_UNIT_TOPIC_LIST = 311, "N", "rare"
    GET_HAS_UNIT_SUB_TOPIC_LIST = 312, "N", "rare"
    GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST = 313, "N", "rare"
    CLONE_GROUP_OFFSET = 314, "B", "admin"
    VIEW_BROKER_STATS_DATA = 315, "B", "admin"
    CLEAN_UNUSED_TOPIC = 316, "B", "admin"
    GET_BROKER_CONSUME_STATS = 317, "B", "admin"
    UPDATE_NAMESRV_CONFIG = 318, "N", "admin"
    GET_NAMESRV_CONFIG = 319, "N", "admin"
    SEND_BATCH_MESSAGE = 320, "B", "core"
    QUERY_CONSUME_QUEUE = 321, "B", "admin"
    QUERY_DATA_VERSION = 322, "N", "core"
    RESUME_CHECK_HALF_MESSAGE = 323, "B", "rare"
    SEND_REPLY_MESSAGE = 324, "B", "core"
    SEND_REPLY_MESSAGE_V2 = 325, "B", "core"
    PUSH_REPLY_MESSAGE_TO_CLIENT = 326, "C", "core"
    ADD_WRITE_PERM_OF_BROKER = 327, "N", "admin"
    GET_ALL_PRODUCER_INFO = 328, "B", "admin"
    DELETE_EXPIRED_COMMITLOG = 329, "B", "admin"
    QUERY_TOPICS_BY_CONSUMER = 343, "B", "admin"
    QUERY_SUBSCRIPTION_BY_CONSUMER = 345, "B", "admin"
    GET_TOPIC_CONFIG = 351, "B", "admin"
    GET_SUBSCRIPTIONGROUP_CONFIG = 352, "B", "admin"
    UPDATE_AND_GET_GROUP_FORBIDDEN = 353, "B", "rare"
    CHECK_ROCKSDB_CQ_WRITE_PROGRESS = 354, "B", "rare"
    EXPORT_ROCKSDB_CONFIG_TO_JSON = 355, "B", "rare"
    LITE_PULL_MESSAGE = 361, "B", "core"
    RECALL_MESSAGE = 370, "B", "core"
    QUERY_ASSIGNMENT = 400, "B", "core"
    SET_MESSAGE_REQUEST_MODE = 401, "B", "admin"
    GET_ALL_MESSAGE_REQUEST_MODE = 402, "B", "ha"
    UPDATE_AND_CREATE_STATIC_TOPIC = 513, "B", "rare"
    GET_BROKER_MEMBER_GROUP = 901, "N", "ha"
    ADD_BROKER = 902, "X", "rare"
    REMOVE_BROKER = 903, "X", "rare"
    BROKER_HEARTBEAT = 904, "NK", "ha raft"
    NOTIFY_MIN_BROKER_ID_CHANGE = 905, "B", "ha"
    EXCHANGE_BROKER_HA_INFO = 906, "B", "ha"
    GET_BROKER_HA_STATUS = 907, "B", "ha admin"
    RESET_MASTER_FLUSH_OFFSET = 908, "B", "ha"
    CONTROLLER_ALTER_SYNC_STATE_SET = 1001, "K", "raft"
    CONTROLLER_ELECT_MASTER = 1002, "K", "raft"
    CONTROLLER_REGISTER_BROKER = 1003, "K", "raft"
    CONTROLLER_GET_REPLICA_INFO = 1004, "K", "raft"
    CONTROLLER_GET_METADATA_INFO = 1005, "K", "raft"
    CONTROLLER_GET_SYNC_STATE_DATA = 1006, "K", "raft"
    GET_BROKER_EPOCH_CACHE = 1007, "B", "raft"
    NOTIFY_BROKER_ROLE_CHANGED = 1008, "B", "raft"
    UPDATE_CONTROLLER_CONFIG = 1009, "K", "raft"
    GET_CONTROLLER_CONFIG = 1010, "K", "raft"
    CLEAN_BROKER_DATA = 1011, "K", "raft"
    CONTROLLER_GET_NEXT_BROKER_ID = 1012, "K", "raft"
    CONTROLLER_APPLY_BROKER_ID = 1013, "K", "raft"
    BROKER_CLOSE_CHANNEL_REQUEST = 1014, "K", "raft"
    CHECK_NOT_ACTIVE_BROKER_REQUEST = 1015, "K", "raft"
    GET_BROKER_LIVE_INFO_REQUEST = 1016, "K", "raft"
    GET_SYNC_STATE_DATA_REQUEST = 1017, "K", "raft"
    RAFT_BROKER_HEART_BEAT_EVENT_REQUEST = 1018, "K", "raft"
    UPDATE_COLD_DATA_FLOW_CTR_CONFIG = 2001, "B", "rare"
    REMOVE_COLD_DATA_FLOW_CTR_CONFIG = 2002, "B", "rare"
    GET_COLD_DATA_FLOW_CTR_INFO = 2003, "B", "rare"
    SET_COMMITLOG_READ_MODE = 2004, "B", "rare"
    AUTH_CREATE_USER = 3001, "B", "admin"
    AUTH_UPDATE_USER = 3002, "B", "admin"
    AUTH_DELETE_USER = 3003, "B", "admin"
    AUTH_GET_USER = 3004, "B", "admin"
    AUTH_LIST_USER = 3005, "B", "admin"
    AUTH_CREATE_ACL = 3006, "B", "admin"
    AUTH_UPDATE_ACL = 3007, "B", "admin"
    AUTH_DELETE_ACL = 3008, "B", "admin"
    AUTH_GET_ACL = 3009, "B", "admin"
    AUTH_LIST_ACL = 3010, "B", "admin"
    SWITCH_TIMER_ENGINE = 5001, "B", "rare"
    LIST_OPEN_TRANSACTIONS = 28001, "B", "admin"
    SEND_ONCE = 28002, "B", "core"
    OPEN_PRODUCER = 28003, "B", "core"
    POP_MESSAGE = 200050, "B", "pop"
    ACK_MESSAGE = 200051, "B", "pop"
    PEEK_MESSAGE = 200052, "B", "pop rare"
    CHANGE_MESSAGE_INVISIBLETIME = 200053, "B", "pop"
    NOTIFICATION = 200054, "B", "pop"
    POLLING_INFO = 200055, "B", "pop rare"
    POP_ROLLBACK = 200056, "B", "pop rare"
    GET_BROKER_LITE_INFO = 200074, "B", "rare"
    GET_PARENT_TOPIC_INFO = 200075, "B", "rare"
    GET_LITE_GROUP_INFO = 200078, "B", "rare"
    TRIGGER_LITE_DISPATCH = 200079, "B", "rare"
    BATCH_ACK_MESSAGE = 200151, "B", "pop"


_BY_NUMBER = {int(code): code for code in RequestCode}


def find_request_code(number: int) -> RequestCode | None:
    """What is known of a number, if anything is."""
    return _BY_NUMBER.get(number)


def request_name(number: int) -> str:
    """The name of a code, or its number where nobody knows it: for logs and errors."""
    code = _BY_NUMBER.get(number)
    return code.name if code is not None else str(number)


def is_served_by(number: int, role: str) -> bool:
    """Whether a request belongs to a role, by its letter."""
    code = _BY_NUMBER.get(number)
    return code is not None and role in code.serves
