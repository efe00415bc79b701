"""The rights table: which resources and actions each request code needs, one row per code.

RocketMQ's own table (the annotations of its request headers and what it builds by hand), and rows
for the codes that Apache's broker lets every user send. A code without a row is refused.

Where a request names a message by its place in the log, the topic that counts is that of the
message there, not the one that the request names. A retry topic belongs to its group: whoever may
subscribe as the group may use it.

Imports more than 15 modules because it reads the bodies of all requests that name resources.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from aerobee.model.access import Action, Resource, ResourceKind
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.names import AUTO_CREATE_TEMPLATE_TOPIC, RETRY_PREFIX, is_retry_topic
from aerobee.protocol.bodies.assignment import decode_assignment_question, decode_request_mode
from aerobee.protocol.bodies.batch_ack import decode_batch_ack
from aerobee.protocol.bodies.group_config import decode_group_config, decode_group_configs
from aerobee.protocol.bodies.heartbeat import decode_heartbeat
from aerobee.protocol.bodies.locks import decode_lock_request
from aerobee.protocol.bodies.staged_places import decode_places
from aerobee.protocol.bodies.subscription import decode_subscription_check
from aerobee.protocol.bodies.topic_table import decode_topic_configs
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.fields import Fields

Actions: TypeAlias = tuple[Action, ...]

_PUB = (Action.PUB,)
_SUB = (Action.SUB,)
_GET = (Action.GET,)
_CREATE = (Action.CREATE,)
_UPDATE = (Action.UPDATE,)
_DELETE = (Action.DELETE,)
_SUB_OR_GET = (Action.SUB, Action.GET)
_SUB_OR_UPDATE = (Action.SUB, Action.UPDATE)
_ROUTE = (Action.PUB, Action.SUB, Action.GET)


class Check(NamedTuple):
    """A resource, and actions of which one must be allowed."""

    resource: Resource
    actions: Actions


class Asked(NamedTuple):
    """A request, as the table reads it."""

    fields: Mapping[str, str]
    body: bytes
    cluster: str
    topic_at: Callable[[int], str | None]
    """The topic of the message at a log offset: its real one, if it waits in a topic of the
    broker's own; None: there is no message."""

    def text(self, name: str) -> str:
        """The value of a field; of an absent one the empty text, which only rules for all names
        are about."""
        return self.fields.get(name, "")


Checks: TypeAlias = Callable[[Asked], list[Check]]


class RequestRight(NamedTuple):
    checks: Checks
    """All of them must be allowed."""
    is_inner: bool = False
    """Only for the brokers' own user, and for super users."""


# Resources.


def _group(name: str, actions: Actions) -> Check:
    return Check(Resource(ResourceKind.GROUP, name), actions)


def _topic(name: str, actions: Actions) -> Check:
    """The check of a topic. Whoever sends to a retry topic hands a message back as a consumer."""
    if is_retry_topic(name):
        return _group(name.removeprefix(RETRY_PREFIX), _SUB if actions == _PUB else actions)
    return Check(Resource(ResourceKind.TOPIC, name), actions)


def _consumed(topic: str, group: str, actions: Actions) -> list[Check]:
    """The checks of a group that reads a topic, or one of its own retry topics."""
    found = [_group(group, actions)]
    own = RETRY_PREFIX + group
    if topic == own:
        return found
    if group and topic.startswith(own + "_"):
        # Of messages that were popped: group and topic, which may also be read as one group's name.
        # Whoever may read both has had these messages.
        return [*found, _topic(topic.removeprefix(own + "_"), actions)]
    return [*found, _topic(topic, actions)]


def consumed(topic: str, group: str) -> list[Check]:
    """The checks of a group that reads messages of a topic."""
    return _consumed(topic, group, _SUB)


def cluster_facts(cluster: str) -> list[Check]:
    """The checks of whoever looks at facts of a cluster."""
    return [Check(Resource(ResourceKind.CLUSTER, cluster), _GET)]


def _message(asked: Asked, log_offset: int, actions: Actions, group: str = "") -> list[Check]:
    """The checks of the topic of a stored message. Where there is none, of all topics: nobody else
    learns that."""
    topic = asked.topic_at(log_offset) or ""
    return _consumed(topic, group, actions) if group else [_topic(topic, actions)]


def _number(asked: Asked, name: str) -> int:
    return Fields(asked.fields).int64(name)


# Rows.


def _of_topic(field: str, actions: Actions) -> RequestRight:
    return RequestRight(lambda asked: [_topic(asked.text(field), actions)])


def _of_group(field: str, actions: Actions) -> RequestRight:
    return RequestRight(lambda asked: [_group(asked.text(field), actions)])


def _of_both(group_field: str, actions: Actions) -> RequestRight:
    return RequestRight(
        lambda asked: _consumed(asked.text("topic"), asked.text(group_field), actions)
    )


def _of_cluster(actions: Actions) -> RequestRight:
    return RequestRight(
        lambda asked: [Check(Resource(ResourceKind.CLUSTER, asked.cluster), actions)]
    )


_INNER = RequestRight(lambda asked: [], is_inner=True)


def _publish(asked: Asked) -> list[Check]:
    """A round without batches is of no topic: whoever ends it must be allowed all."""
    found = [_message(asked, place, _PUB)[0] for place in decode_places(asked.body)]
    return found or [_topic("", _PUB)]


def _heartbeat(asked: Asked) -> list[Check]:
    """Consumers only: a producer says nothing but its group."""
    found: list[Check] = []
    for beat in decode_heartbeat(asked.body).consumers:
        found.append(_group(beat.group, _SUB))
        for subscription in beat.subscriptions:
            found += _consumed(subscription.topic, beat.group, _SUB)[1:]
    return found


def _unregister(asked: Asked) -> list[Check]:
    group = asked.text("consumerGroup")
    return [_group(group, _SUB)] if group else []


def _locks(asked: Asked) -> list[Check]:
    wanted = decode_lock_request(asked.body)
    topics = {queue.topic for queue in wanted.queues}
    found = [check for topic in topics for check in _consumed(topic, wanted.group, _SUB)]
    return found or [_group(wanted.group, _SUB)]


def _batch_ack(asked: Asked) -> list[Check]:
    pairs = {(entry.topic, entry.group) for entry in decode_batch_ack(asked.body).entries}
    return [check for topic, group in pairs for check in _consumed(topic, group, _SUB)]


def _assignment(asked: Asked) -> list[Check]:
    question = decode_assignment_question(asked.body)
    return _consumed(question.topic, question.group, _SUB)


def _request_mode(asked: Asked) -> list[Check]:
    mode = decode_request_mode(asked.body)
    return _consumed(mode.topic, mode.group, _UPDATE)


def _filter_check(asked: Asked) -> list[Check]:
    return [_group(decode_subscription_check(asked.body).group, _SUB)]


def _consume_stats(asked: Asked) -> list[Check]:
    group = asked.text("consumerGroup")
    topics = [asked.text("topic"), *asked.text("topicList").split(";")]
    found = [_group(group, _GET)]
    for topic in filter(None, topics):
        found += _consumed(topic, group, _GET)[1:]
    return found


def _correction(asked: Asked) -> list[Check]:
    groups = [asked.text("compareGroup"), *asked.text("filterGroups").split(",")]
    found = [_group(group, _GET) for group in filter(None, groups)]
    return [*found, _topic(asked.text("topic"), _GET)]


def _clone(asked: Asked) -> list[Check]:
    found = [_group(asked.text("srcGroup"), _GET), _group(asked.text("destGroup"), _UPDATE)]
    topic = asked.text("topic")
    return [*found, _topic(topic, _UPDATE)] if topic else found


def _consume_directly(asked: Asked) -> list[Check]:
    log_offset = parse_offset_message_id(asked.text("msgId")).log_offset
    return _message(asked, log_offset, _SUB, asked.text("consumerGroup"))


def _resume_check(asked: Asked) -> list[Check]:
    return _message(asked, parse_offset_message_id(asked.text("msgId")).log_offset, _UPDATE)


def _route(asked: Asked) -> list[Check]:
    """Every producer of a new topic asks for the route of the template, which tells it no more than
    where brokers are."""
    topic = asked.text("topic")
    return [] if topic == AUTO_CREATE_TEMPLATE_TOPIC else [_topic(topic, _ROUTE)]


_CODE = RequestCode

SENT_TOPIC_FIELDS: Mapping[int, str] = {
    _CODE.SEND_MESSAGE: "topic",
    _CODE.SEND_MESSAGE_V2: "b",
    _CODE.SEND_BATCH_MESSAGE: "b",
}
"""The field with the topic of a send that a fast path may take, by request code."""

RIGHTS: Mapping[int, RequestRight] = {
    # Sends.
    **dict.fromkeys((_CODE.SEND_MESSAGE, _CODE.SEND_REPLY_MESSAGE), _of_topic("topic", _PUB)),
    **dict.fromkeys(
        (
            _CODE.SEND_MESSAGE_V2,
            _CODE.SEND_BATCH_MESSAGE,
            _CODE.SEND_REPLY_MESSAGE_V2,
            _CODE.SEND_ONCE,
        ),
        _of_topic("b", _PUB),
    ),
    **dict.fromkeys(
        (_CODE.RECALL_MESSAGE, _CODE.OPEN_PRODUCER, _CODE.STAGE_BATCH, _CODE.FINISH_ROUND),
        _of_topic("topic", _PUB),
    ),
    _CODE.PUBLISH_STAGED: RequestRight(_publish),
    _CODE.END_TRANSACTION: RequestRight(
        lambda asked: _message(asked, _number(asked, "commitLogOffset"), _PUB)
    ),
    _CODE.CONSUMER_SEND_MSG_BACK: RequestRight(
        lambda asked: _message(asked, _number(asked, "offset"), _SUB, asked.text("group"))
    ),
    # Consuming.
    **dict.fromkeys(
        (
            _CODE.PULL_MESSAGE,
            _CODE.LITE_PULL_MESSAGE,
            _CODE.POP_MESSAGE,
            _CODE.PEEK_MESSAGE,
            _CODE.ACK_MESSAGE,
            _CODE.CHANGE_MESSAGE_INVISIBLETIME,
            _CODE.NOTIFICATION,
        ),
        _of_both("consumerGroup", _SUB),
    ),
    _CODE.BATCH_ACK_MESSAGE: RequestRight(_batch_ack),
    _CODE.HEART_BEAT: RequestRight(_heartbeat),
    _CODE.UNREGISTER_CLIENT: RequestRight(_unregister),
    _CODE.CHECK_CLIENT_CONFIG: RequestRight(_filter_check),
    _CODE.GET_CONSUMER_LIST_BY_GROUP: _of_group("consumerGroup", _SUB_OR_GET),
    _CODE.QUERY_CONSUMER_OFFSET: _of_both("consumerGroup", _SUB_OR_GET),
    _CODE.UPDATE_CONSUMER_OFFSET: _of_both("consumerGroup", _SUB_OR_UPDATE),
    **dict.fromkeys((_CODE.LOCK_BATCH_MQ, _CODE.UNLOCK_BATCH_MQ), RequestRight(_locks)),
    _CODE.QUERY_ASSIGNMENT: RequestRight(_assignment),
    # Messages and queues.
    _CODE.QUERY_MESSAGE: _of_topic("topic", _SUB_OR_GET),
    _CODE.VIEW_MESSAGE_BY_ID: RequestRight(
        lambda asked: _message(asked, _number(asked, "offset"), _GET)
    ),
    **dict.fromkeys(
        (
            _CODE.SEARCH_OFFSET_BY_TIMESTAMP,
            _CODE.GET_MAX_OFFSET,
            _CODE.GET_MIN_OFFSET,
            _CODE.GET_EARLIEST_MSG_STORETIME,
        ),
        _of_topic("topic", _SUB_OR_GET),
    ),
    _CODE.QUERY_CONSUME_QUEUE: RequestRight(
        lambda asked: [
            _topic(asked.text("topic"), _GET),
            *([_group(asked.text("consumerGroup"), _GET)] if asked.text("consumerGroup") else []),
        ]
    ),
    # Topics.
    _CODE.UPDATE_AND_CREATE_TOPIC: _of_topic("topic", _CREATE),
    _CODE.UPDATE_AND_CREATE_TOPIC_LIST: RequestRight(
        lambda asked: [_topic(config.name, _CREATE) for config in decode_topic_configs(asked.body)]
    ),
    _CODE.UPDATE_AND_CREATE_STATIC_TOPIC: _of_cluster(_UPDATE),
    _CODE.DELETE_TOPIC_IN_BROKER: _of_topic("topic", _DELETE),
    **dict.fromkeys(
        (
            _CODE.GET_TOPIC_STATS_INFO,
            _CODE.QUERY_TOPIC_CONSUME_BY_WHO,
            _CODE.GET_TOPIC_CONFIG,
            _CODE.CHECK_ROCKSDB_CQ_WRITE_PROGRESS,
        ),
        _of_topic("topic", _GET),
    ),
    # Groups.
    _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: RequestRight(
        lambda asked: [_group(decode_group_config(asked.body).name, _UPDATE)]
    ),
    _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: RequestRight(
        lambda asked: [_group(one.name, _UPDATE) for one in decode_group_configs(asked.body)]
    ),
    _CODE.DELETE_SUBSCRIPTIONGROUP: _of_group("groupName", _DELETE),
    **dict.fromkeys(
        (_CODE.GET_CONSUMER_CONNECTION_LIST, _CODE.GET_CONSUMER_RUNNING_INFO),
        _of_group("consumerGroup", _GET),
    ),
    **dict.fromkeys(
        (_CODE.QUERY_TOPICS_BY_CONSUMER, _CODE.GET_SUBSCRIPTIONGROUP_CONFIG),
        _of_group("group", _GET),
    ),
    _CODE.GET_CONSUME_STATS: RequestRight(_consume_stats),
    **dict.fromkeys(
        (_CODE.INVOKE_BROKER_TO_RESET_OFFSET, _CODE.UPDATE_AND_GET_GROUP_FORBIDDEN),
        _of_both("group", _UPDATE),
    ),
    **dict.fromkeys(
        (
            _CODE.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
            _CODE.QUERY_CONSUME_TIME_SPAN,
            _CODE.QUERY_SUBSCRIPTION_BY_CONSUMER,
        ),
        _of_both("group", _GET),
    ),
    _CODE.QUERY_CORRECTION_OFFSET: RequestRight(_correction),
    _CODE.CONSUME_MESSAGE_DIRECTLY: RequestRight(_consume_directly),
    _CODE.CLONE_GROUP_OFFSET: RequestRight(_clone),
    _CODE.SET_MESSAGE_REQUEST_MODE: RequestRight(_request_mode),
    _CODE.POLLING_INFO: _of_both("consumerGroup", _GET),
    _CODE.RESUME_CHECK_HALF_MESSAGE: RequestRight(_resume_check),
    # The broker.
    **dict.fromkeys(
        (
            _CODE.UPDATE_BROKER_CONFIG,
            _CODE.CLEAN_EXPIRED_CONSUMEQUEUE,
            _CODE.CLEAN_UNUSED_TOPIC,
            _CODE.DELETE_EXPIRED_COMMITLOG,
            _CODE.UPDATE_COLD_DATA_FLOW_CTR_CONFIG,
            _CODE.REMOVE_COLD_DATA_FLOW_CTR_CONFIG,
            _CODE.SET_COMMITLOG_READ_MODE,
            _CODE.SWITCH_TIMER_ENGINE,
            _CODE.POP_ROLLBACK,
            _CODE.TRIGGER_LITE_DISPATCH,
            _CODE.EXCHANGE_BROKER_HA_INFO,
            _CODE.RESET_MASTER_FLUSH_OFFSET,
            _CODE.CHANGE_BROKER_ROLE,
            _CODE.CONTROLLER_ELECT_MASTER,
            _CODE.CHANGE_GROUP_MEMBERS,
            _CODE.CONTROLLER_ALTER_SYNC_STATE_SET,
            _CODE.CONTROLLER_REGISTER_BROKER,
            _CODE.CONTROLLER_GET_NEXT_BROKER_ID,
            _CODE.CONTROLLER_APPLY_BROKER_ID,
            _CODE.UPDATE_CONTROLLER_CONFIG,
            _CODE.CLEAN_BROKER_DATA,
            _CODE.AUTH_CREATE_USER,
            _CODE.AUTH_UPDATE_USER,
            _CODE.AUTH_DELETE_USER,
            _CODE.AUTH_CREATE_ACL,
            _CODE.AUTH_UPDATE_ACL,
            _CODE.AUTH_DELETE_ACL,
        ),
        _of_cluster(_UPDATE),
    ),
    **dict.fromkeys(
        (
            _CODE.GET_ALL_TOPIC_CONFIG,
            _CODE.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
            _CODE.GET_BROKER_CONFIG,
            _CODE.GET_BROKER_RUNTIME_INFO,
            _CODE.GET_PRODUCER_CONNECTION_LIST,
            _CODE.GET_SYSTEM_TOPIC_LIST_FROM_BROKER,
            _CODE.VIEW_BROKER_STATS_DATA,
            _CODE.GET_BROKER_CONSUME_STATS,
            _CODE.GET_ALL_PRODUCER_INFO,
            _CODE.EXPORT_ROCKSDB_CONFIG_TO_JSON,
            _CODE.GET_BROKER_HA_STATUS,
            _CODE.GET_BROKER_EPOCH_CACHE,
            _CODE.LIST_GROUP_MEMBERS,
            _CODE.CONTROLLER_GET_REPLICA_INFO,
            _CODE.CONTROLLER_GET_METADATA_INFO,
            _CODE.CONTROLLER_GET_SYNC_STATE_DATA,
            _CODE.GET_CONTROLLER_CONFIG,
            _CODE.GET_COLD_DATA_FLOW_CTR_INFO,
            _CODE.GET_BROKER_LITE_INFO,
            _CODE.GET_PARENT_TOPIC_INFO,
            _CODE.GET_LITE_TOPIC_INFO,
            _CODE.GET_LITE_CLIENT_INFO,
            _CODE.GET_LITE_GROUP_INFO,
            _CODE.LIST_OPEN_TRANSACTIONS,
            _CODE.AUTH_GET_USER,
            _CODE.AUTH_LIST_USER,
            _CODE.AUTH_GET_ACL,
            _CODE.AUTH_LIST_ACL,
        ),
        _of_cluster(_GET),
    ),
    # Brokers among themselves.
    **dict.fromkeys(
        (
            _CODE.GET_ALL_CONSUMER_OFFSET,
            _CODE.GET_ALL_DELAY_OFFSET,
            _CODE.GET_TIMER_CHECK_POINT,
            _CODE.GET_TIMER_METRICS,
            _CODE.GET_ALL_MESSAGE_REQUEST_MODE,
            _CODE.COPY_BROKER_STATE,
            _CODE.READ_LOG,
            _CODE.NOTIFY_MIN_BROKER_ID_CHANGE,
            _CODE.REGISTER_BROKER,
            _CODE.UNREGISTER_BROKER,
            _CODE.QUERY_DATA_VERSION,
            _CODE.BROKER_HEARTBEAT,
            _CODE.GET_BROKER_MEMBER_GROUP,
            _CODE.TELL_ACCESS,
        ),
        _INNER,
    ),
    # Name servers.
    _CODE.GET_ROUTEINFO_BY_TOPIC: RequestRight(_route),
    **dict.fromkeys(
        (
            _CODE.PUT_KV_CONFIG,
            _CODE.DELETE_KV_CONFIG,
            _CODE.WIPE_WRITE_PERM_OF_BROKER,
            _CODE.ADD_WRITE_PERM_OF_BROKER,
            _CODE.DELETE_TOPIC_IN_NAMESRV,
            _CODE.REGISTER_TOPIC_IN_NAMESRV,
            _CODE.UPDATE_NAMESRV_CONFIG,
        ),
        _of_cluster(_UPDATE),
    ),
    **dict.fromkeys(
        (
            _CODE.GET_KV_CONFIG,
            _CODE.GET_KVLIST_BY_NAMESPACE,
            _CODE.GET_BROKER_CLUSTER_INFO,
            _CODE.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
            _CODE.GET_TOPICS_BY_CLUSTER,
            _CODE.GET_SYSTEM_TOPIC_LIST_FROM_NS,
            _CODE.GET_UNIT_TOPIC_LIST,
            _CODE.GET_HAS_UNIT_SUB_TOPIC_LIST,
            _CODE.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
            _CODE.GET_NAMESRV_CONFIG,
        ),
        _of_cluster(_GET),
    ),
}
"""By request code."""
