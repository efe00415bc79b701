"""Audit tells a trail which requests were refused and which changed something.

    refused    every request that the gate lets not pass, failed log-ins among them; of one address
               at most so many in a second, and the next says how many were left out
    changed    every request of `CHANGES` that the gate let pass, when it is answered

Sends, pulls, acknowledgements and questions that are allowed are never told: they cost nothing.
Bodies are read only where the gate knows the user or lets everybody pass, and for names alone.
"""

from collections.abc import Mapping

from aerobee.errors import AerobeeError
from aerobee.model.access import SUBJECT_PREFIX, ResourceKind
from aerobee.ports.audit import ALLOWED, DENIED, AuditEvent, AuditSink
from aerobee.protocol.request_codes import RequestCode, request_name
from aerobee.protocol.text.java_properties import parse_properties
from aerobee.service.access.authentication import user_name
from aerobee.service.access.request_rights import RIGHTS, Asked
from aerobee.service.access.token_bucket import TokenBuckets
from aerobee.service.request import Answer, Request

REFUSALS_PER_SECOND = 100
"""Of one address: a flood must not push everything else out of the files."""
SOURCES_MAX = 10_000
NAMES_MAX = 50
TEXT_CHARS_MAX = 300
SETTINGS_BYTES_MAX = 64 << 10

_CODE = RequestCode
CHANGES = frozenset(
    {
        _CODE.UPDATE_AND_CREATE_TOPIC,
        _CODE.UPDATE_AND_CREATE_TOPIC_LIST,
        _CODE.UPDATE_AND_CREATE_STATIC_TOPIC,
        _CODE.DELETE_TOPIC_IN_BROKER,
        _CODE.DELETE_TOPIC_IN_NAMESRV,
        _CODE.REGISTER_TOPIC_IN_NAMESRV,
        _CODE.CLEAN_UNUSED_TOPIC,
        _CODE.CLEAN_EXPIRED_CONSUMEQUEUE,
        _CODE.DELETE_EXPIRED_COMMITLOG,
        _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        _CODE.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        _CODE.DELETE_SUBSCRIPTIONGROUP,
        _CODE.UPDATE_AND_GET_GROUP_FORBIDDEN,
        _CODE.INVOKE_BROKER_TO_RESET_OFFSET,
        _CODE.CLONE_GROUP_OFFSET,
        _CODE.SET_MESSAGE_REQUEST_MODE,
        _CODE.CONSUME_MESSAGE_DIRECTLY,
        _CODE.RESUME_CHECK_HALF_MESSAGE,
        _CODE.POP_ROLLBACK,
        _CODE.TRIGGER_LITE_DISPATCH,
        _CODE.UPDATE_BROKER_CONFIG,
        _CODE.UPDATE_NAMESRV_CONFIG,
        _CODE.UPDATE_COLD_DATA_FLOW_CTR_CONFIG,
        _CODE.REMOVE_COLD_DATA_FLOW_CTR_CONFIG,
        _CODE.SET_COMMITLOG_READ_MODE,
        _CODE.SWITCH_TIMER_ENGINE,
        _CODE.RESET_MASTER_FLUSH_OFFSET,
        _CODE.CHANGE_BROKER_ROLE,
        _CODE.CONTROLLER_ELECT_MASTER,
        _CODE.CHANGE_GROUP_MEMBERS,
        _CODE.CONTROLLER_ALTER_SYNC_STATE_SET,
        _CODE.UPDATE_CONTROLLER_CONFIG,
        _CODE.CLEAN_BROKER_DATA,
        _CODE.PUT_KV_CONFIG,
        _CODE.DELETE_KV_CONFIG,
        _CODE.WIPE_WRITE_PERM_OF_BROKER,
        _CODE.ADD_WRITE_PERM_OF_BROKER,
        _CODE.AUTH_CREATE_USER,
        _CODE.AUTH_UPDATE_USER,
        _CODE.AUTH_DELETE_USER,
        _CODE.AUTH_CREATE_ACL,
        _CODE.AUTH_UPDATE_ACL,
        _CODE.AUTH_DELETE_ACL,
    }
)
_SETTINGS = frozenset({_CODE.UPDATE_BROKER_CONFIG, _CODE.UPDATE_NAMESRV_CONFIG})
# Of requests whose right is one on the whole cluster, the fields that say what they are about.
_NAMING_FIELDS = {
    "username": SUBJECT_PREFIX,
    "subject": "",
    "topic": "Topic:",
    "brokerName": "Broker:",
    "namespace": "Namespace:",
    "key": "Key:",
}


class Audit:
    """A1. `_left_out` has the refusals of an address since the last one that was told."""

    def __init__(self, sink: AuditSink, server: str, cluster: str) -> None:
        self._sink = sink
        self._server = server
        self._cluster = cluster
        self._refusals = TokenBuckets(REFUSALS_PER_SECOND)
        self._left_out: dict[str, int] = {}

    def refused(self, request: Request, source: str, answer: Answer, claimed: str = "") -> None:
        """The gate did not let a request pass. `claimed` is the user that a call of gRPC names; a
        request of remoting has it in its fields."""
        now_ms = request.now.monotonic_ms
        if self._refusals.wait_ms(source, now_ms):
            if len(self._left_out) < SOURCES_MAX or source in self._left_out:
                self._left_out[source] = self._left_out.get(source, 0) + 1
            return
        self._refusals.take(source, 1, now_ms)
        self._sink(
            self._event(request, source, claimed, is_known=request.user is not None)._replace(
                decision=DENIED,
                answer=answer.code.name,
                reason=answer.remark[:TEXT_CHARS_MAX],
                left_out=self._left_out.pop(source, 0),
            )
        )

    def link_refused(self, source: str, reason: str, wall_ms: int) -> None:
        """A link for replication was closed, because who opened it did not prove to be a broker."""
        event = AuditEvent(wall_ms, self._server, "", source, "HA link", (), DENIED, "", reason)
        self._sink(event)

    def passed(self, request: Request, source: str) -> None:
        """The gate let a request pass: if it is one of `CHANGES`, it is told when it is answered,
        with the answer."""
        if request.command.code not in CHANGES:
            return
        event = self._event(request, source, is_known=True)
        if request.command.is_oneway:
            self._sink(event)
        else:
            request.hear(lambda request, code: self._sink(event._replace(answer=code.name)))

    def _event(
        self, request: Request, source: str, claimed: str = "", *, is_known: bool
    ) -> AuditEvent:
        command = request.command
        user = claimed or user_name(command.ext_fields)
        if request.user is not None:
            user = request.user.name
        return AuditEvent(
            request.now.wall_ms,
            self._server,
            user[:TEXT_CHARS_MAX],
            source,
            request_name(command.code),
            self._named(request) if is_known else _in_fields(command.ext_fields),
            ALLOWED,
            "",
        )

    def _named(self, request: Request) -> tuple[str, ...]:
        """What a request is about."""
        code, fields = request.command.code, request.command.ext_fields
        right = RIGHTS.get(code)
        try:
            asked = Asked(fields, request.body, self._cluster, lambda offset: None)
            checks = [] if right is None else right.checks(asked)
            settings = _settings_in(request.body) if code in _SETTINGS else ()
        except AerobeeError:  # the request is refused for that
            return _in_fields(fields)
        found = [str(check.resource) for check in checks if check.resource.name]
        if any(check.resource.kind is ResourceKind.CLUSTER for check in checks):
            found += (*_in_fields(fields), *settings)
        return tuple(name[:TEXT_CHARS_MAX] for name in found[:NAMES_MAX])


def _in_fields(fields: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{kind}{fields[name]}"[:TEXT_CHARS_MAX]
        for name, kind in _NAMING_FIELDS.items()
        if fields.get(name)
    )


def _settings_in(body: bytes) -> tuple[str, ...]:
    """The names of settings, without their values."""
    text = body[:SETTINGS_BYTES_MAX].decode("utf-8", "replace")
    return tuple(f"Setting:{key}" for _, key, _ in parse_properties(text))
