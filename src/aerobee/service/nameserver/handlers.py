"""Handlers of the name server: one small method per request code, in a table per family.

A handler raises a RemoteProtocolError for a peer's mistake; the caller answers with that. Codes and
fields: RocketMQ's RequestCode and its header classes.
"""

import re
from dataclasses import replace

from aerobee.errors import RemoteProtocolError
from aerobee.model.route import BrokerData
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.register_broker import body_crc, decode_register_broker
from aerobee.protocol.bodies.small_tables import encode_text_table, encode_topic_list
from aerobee.protocol.bodies.topic_config import decode_data_version, encode_data_version
from aerobee.protocol.bodies.topic_route import (
    STANDARD_VERSION_MIN,
    decode_topic_route,
    encode_cluster_info,
    encode_member_group,
    encode_topic_route,
)
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.config_requests import change_config, config_text
from aerobee.service.live_config import LiveConfig
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.service.nameserver.key_values import ORDER_NAMESPACE, KeyValues
from aerobee.service.nameserver.route_table import BrokerEntry, BrokerPlace, RouteTable
from aerobee.service.request import OK, Answer, Handler, Request

EXPIRY_MS = 120_000
EXPIRY_MS_MAX = 3_600_000
# Go clients split routes at commas and colons, so an address may contain nothing else.
_ADDRESS = re.compile(r"[A-Za-z0-9._%:\[\]-]{1,249}:[0-9]{1,5}")


class BrokerHandlers:
    """Requests of brokers: registration, heartbeats, versions."""

    def __init__(
        self, table: RouteTable, key_values: KeyValues, config: LiveConfig[NameServerConfig]
    ) -> None:
        self._table = table
        self._key_values = key_values
        self._config = config

    def table(self) -> dict[int, Handler]:
        return {
            RequestCode.REGISTER_BROKER: self._register,
            RequestCode.UNREGISTER_BROKER: self._unregister,
            RequestCode.QUERY_DATA_VERSION: self._query_version,
            RequestCode.BROKER_HEARTBEAT: self._heartbeat,
            RequestCode.GET_BROKER_MEMBER_GROUP: self._member_group,
            RequestCode.REGISTER_TOPIC_IN_NAMESRV: self._register_topic,
        }

    def _register(self, request: Request) -> Answer:
        fields = request.fields
        wanted = fields.int32("bodyCrc32", 0)
        if wanted not in (0, body_crc(request.body)):
            raise RemoteProtocolError("bodyCrc32 is not that of the body")
        upload = decode_register_broker(
            request.body,
            is_compressed=fields.is_true("compressed"),
            version=request.command.version,
        )
        expiry_ms = fields.int64("heartbeatTimeoutMillis", EXPIRY_MS)
        if not 0 < expiry_ms <= EXPIRY_MS_MAX:
            raise RemoteProtocolError(
                f"the field heartbeatTimeoutMillis is {expiry_ms}, not from 1 to {EXPIRY_MS_MAX}"
            )
        knows_acting = "enableActingMaster" in request.command.ext_fields
        registered = self._table.register(
            BrokerEntry(
                _place(request),
                upload,
                expiry_ms,
                ha_address=fields.optional_text("haServerAddr")[:255],
                zone=fields.optional_text("__ZONE_NAME")[:255],
                is_acting_enabled=fields.is_true("enableActingMaster") if knows_acting else None,
            ),
            request.channel,
            request.now,
        )
        told = {
            "haServerAddr": registered.master_ha_address,
            "masterAddr": registered.master_address,
        }
        order = None
        if self._config.current.has_order_in_registrations:
            order = self._key_values.find_namespace(ORDER_NAMESPACE)
        return Answer(
            fields={name: text for name, text in told.items() if text},
            body=encode_text_table(order) if order is not None else b"",
        )

    def _unregister(self, request: Request) -> Answer:
        self._table.unregister(_place(request))
        return OK

    def _query_version(self, request: Request) -> Answer:
        """QUERY_DATA_VERSION: a heartbeat, and whether the broker has to register again."""
        place = _place(request)
        version = decode_data_version(request.body)
        known = self._table.find_version(place)
        is_changed = not self._table.is_current(place, version)
        self._table.refresh(place, request.now)
        return Answer(
            fields={"changed": "true" if is_changed else "false"},
            body=encode_data_version(known) if known is not None else b"",
        )

    def _heartbeat(self, request: Request) -> Answer:
        fields = request.fields
        place = BrokerPlace(
            fields.text("clusterName"), fields.text("brokerName"), 0, fields.text("brokerAddr")
        )
        self._table.refresh(place, request.now)
        return OK

    def _member_group(self, request: Request) -> Answer:
        cluster, name = request.fields.text("clusterName"), request.fields.text("brokerName")
        broker = self._table.find_broker(name)
        members = {} if broker is None else broker.addresses
        fields = {"term": str(self._table.find_term(name))}  # see `KnownTermHeader`
        return Answer(fields=fields, body=encode_member_group(BrokerData(cluster, name, members)))

    def _register_topic(self, request: Request) -> Answer:
        topic = request.fields.text("topic")
        self._table.add_topic(topic, decode_topic_route(request.body).queues)
        return OK


class RouteHandlers:
    """Requests of clients for routes, and of administrators to change them."""

    def __init__(
        self,
        table: RouteTable,
        key_values: KeyValues,
        config: LiveConfig[NameServerConfig],
        started: Now,
    ) -> None:
        self._table = table
        self._key_values = key_values
        self._config = config
        self._started = started

    def table(self) -> dict[int, Handler]:
        return {
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self._route,
            RequestCode.GET_BROKER_CLUSTER_INFO: self._cluster_info,
            RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: self._all_topics,
            RequestCode.GET_TOPICS_BY_CLUSTER: self._cluster_topics,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: self._system_topics,
            RequestCode.GET_UNIT_TOPIC_LIST: self._unit_topics,
            RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: self._unit_subscribed_topics,
            RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: self._subscribed_plain_topics,
            RequestCode.WIPE_WRITE_PERM_OF_BROKER: self._wipe,
            RequestCode.ADD_WRITE_PERM_OF_BROKER: self._restore,
            RequestCode.DELETE_TOPIC_IN_NAMESRV: self._delete_topic,
        }

    def _route(self, request: Request) -> Answer:
        fields, config = request.fields, self._config.current
        topic = fields.text("topic")
        uptime_ms = request.now.monotonic_ms - self._started.monotonic_ms
        if config.waits_for_brokers and uptime_ms < config.wait_ms:
            return Answer(ResponseCode.SYSTEM_ERROR, "brokers have not had time to register yet")
        zone = fields.optional_text("__ZONE_NAME") if fields.is_true("__ZONE_MODE") else ""
        route = self._table.find_route(
            topic, zone=zone, shows_acting_master=config.shows_acting_master
        )
        if route is None:
            return Answer(ResponseCode.TOPIC_NOT_EXIST, f"no broker has the topic {topic[:255]}")
        if config.has_order_in_routes:
            order = self._key_values.find(ORDER_NAMESPACE, topic)
            route = replace(route, order_conf=order or "")
        is_standard = request.command.version >= STANDARD_VERSION_MIN or fields.is_true(
            "acceptStandardJsonOnly"
        )
        return Answer(body=encode_topic_route(route, is_standard=is_standard))

    def _cluster_info(self, request: Request) -> Answer:
        return Answer(body=encode_cluster_info(self._table.cluster_info()))

    def _all_topics(self, request: Request) -> Answer:
        if not self._config.current.lists_all_topics:
            return _switched_off("enableAllTopicList")
        return Answer(body=encode_topic_list(self._table.topics()))

    def _cluster_topics(self, request: Request) -> Answer:
        if not self._config.current.lists_topics:
            return _switched_off("enableTopicList")
        return Answer(body=encode_topic_list(self._table.topics(request.fields.text("cluster"))))

    def _system_topics(self, request: Request) -> Answer:
        """The topics that are named like clusters and brokers: each has one."""
        info = self._table.cluster_info()
        names = [
            name
            for cluster, brokers in info.names_by_cluster().items()
            for name in (cluster, *brokers)
        ]
        address = next(
            (address for broker in info.brokers for address in broker.addresses.values()), ""
        )
        return Answer(body=encode_topic_list(dict.fromkeys(names), address))

    def _unit_topics(self, request: Request) -> Answer:
        return self._topics_by_unit(is_unit=True, has_subscription=None)

    def _unit_subscribed_topics(self, request: Request) -> Answer:
        return self._topics_by_unit(is_unit=None, has_subscription=True)

    def _subscribed_plain_topics(self, request: Request) -> Answer:
        return self._topics_by_unit(is_unit=False, has_subscription=True)

    def _topics_by_unit(self, *, is_unit: bool | None, has_subscription: bool | None) -> Answer:
        if not self._config.current.lists_topics:
            return _switched_off("enableTopicList")
        found = self._table.topics_by_unit(is_unit=is_unit, has_subscription=has_subscription)
        return Answer(body=encode_topic_list(found))

    def _wipe(self, request: Request) -> Answer:
        count = self._table.set_wiped(request.fields.text("brokerName"), is_wiped=True)
        return Answer(fields={"wipeTopicCount": str(count)})

    def _restore(self, request: Request) -> Answer:
        count = self._table.set_wiped(request.fields.text("brokerName"), is_wiped=False)
        return Answer(fields={"addTopicCount": str(count)})

    def _delete_topic(self, request: Request) -> Answer:
        fields = request.fields
        self._table.forget_topic(fields.text("topic"), fields.optional_text("clusterName"))
        return OK


class KeyValueHandlers:
    def __init__(self, key_values: KeyValues) -> None:
        self._key_values = key_values

    def table(self) -> dict[int, Handler]:
        return {
            RequestCode.PUT_KV_CONFIG: self._put,
            RequestCode.GET_KV_CONFIG: self._get,
            RequestCode.DELETE_KV_CONFIG: self._delete,
            RequestCode.GET_KVLIST_BY_NAMESPACE: self._list,
        }

    def _put(self, request: Request) -> None:
        fields = request.fields
        self._key_values.put(
            fields.text("namespace"),
            fields.text("key"),
            fields.text("value"),
            request.answer_when_saved,
        )

    def _get(self, request: Request) -> Answer:
        namespace, key = request.fields.text("namespace"), request.fields.text("key")
        value = self._key_values.find(namespace, key)
        if value is None:
            return _not_found(f"the namespace {namespace[:100]} has no {key[:100]}")
        return Answer(fields={"value": value})

    def _delete(self, request: Request) -> None:
        fields = request.fields
        self._key_values.delete(
            fields.text("namespace"), fields.text("key"), request.answer_when_saved
        )

    def _list(self, request: Request) -> Answer:
        namespace = request.fields.text("namespace")
        table = self._key_values.find_namespace(namespace)
        if table is None:
            return _not_found(f"there is no namespace {namespace[:100]}")
        return Answer(body=encode_text_table(table))


class ConfigHandlers:
    """Requests that show and change the settings."""

    def __init__(self, config: LiveConfig[NameServerConfig]) -> None:
        self._config = config

    def table(self) -> dict[int, Handler]:
        return {
            RequestCode.UPDATE_NAMESRV_CONFIG: self._update,
            RequestCode.GET_NAMESRV_CONFIG: self._get,
        }

    def _update(self, request: Request) -> Answer | None:
        return change_config(self._config, request)

    def _get(self, request: Request) -> Answer:
        return Answer(body=config_text(self._config))


def _place(request: Request) -> BrokerPlace:
    fields = request.fields
    address = fields.text("brokerAddr")
    if not _ADDRESS.fullmatch(address):
        raise RemoteProtocolError(f"the field brokerAddr is no address: {address[:100]!r}")
    broker_id = fields.int64("brokerId")
    if broker_id < 0:
        raise RemoteProtocolError(f"the field brokerId is below 0: {broker_id}")
    return BrokerPlace(fields.text("clusterName"), fields.text("brokerName"), broker_id, address)


def _switched_off(key: str) -> Answer:
    return Answer(ResponseCode.SYSTEM_ERROR, f"this list is switched off ({key}=false)")


def _not_found(remark: str) -> Answer:
    return Answer(ResponseCode.QUERY_NOT_FOUND, remark)
